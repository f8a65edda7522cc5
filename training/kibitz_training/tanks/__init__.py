"""Training for Tanks: networks.

network_training  the experiments
neuroevolution    the evolution of the report
network_games     games of networks against random players
"""
