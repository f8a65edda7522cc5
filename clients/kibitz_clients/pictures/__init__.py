"""What boards are made of in pictures; `svg` puts them on a page."""
