"""Ways in for those who do not write a `kibitz.Bot`: other languages, other interfaces."""
