"""The table of experiments, in the order of the page; what is heavy is imported when one runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.experiments import events, training
from benchmarks.experiments.experiment import ReportExperiment

if TYPE_CHECKING:
    from benchmarks.experiments.experiment import Measure

REPORTS = {
    "chinese-checkers": "Fun With Chinese Checkers",
    "tanks": "AI Based Tanks Game (Namal College, 2018)",
    "five-in-a-row": "5 in a Row (Shahjalal University of Science and Technology, 2014)",
    "line-nim": "AI Capstone assignment 2 (NYCU, 2023)",
    "number-merge": "Practical assignment 1 (Riga Technical University)",
}
"""The reports, by the games that they are about."""


def _sooner() -> Measure:
    from benchmarks.experiments import chinese_checkers

    return chinese_checkers.sooner


def _evolved() -> Measure:
    from benchmarks.experiments import shipped

    return shipped.evolved


def _ceiling() -> Measure:
    from benchmarks.experiments import ceiling

    return ceiling.ceiling


def _guided() -> Measure:
    from benchmarks.experiments import guided

    return guided.guided


def _guided_six() -> Measure:
    from benchmarks.experiments import guided

    return guided.guided_six


def _conspiring() -> Measure:
    from benchmarks.experiments import conspiring

    return conspiring.conspiring


def _compiled() -> Measure:
    from benchmarks.experiments import compiling

    return compiling.compiled


def _win_and_loss() -> Measure:
    from benchmarks.experiments import line_nim

    return line_nim.win_and_loss


def _pruning() -> Measure:
    from benchmarks.experiments import line_nim

    return line_nim.pruning


def _whole_tree() -> Measure:
    from benchmarks.experiments import number_merge

    return number_merge.whole_tree


GENETIC_FIGURES = ("fitness.svg", "wins.svg", "array-best.svg")
GENETIC = "chinese-checkers/genetic"
SMALL = "population=200,begins=individual,highest=100"
"""That of a short run: its first generations, in which most games drag on, are cheaper."""
MEDIUM = "population=300,begins=individual,highest=100"
"""The same for three players."""
LARGE = "population=1000,begins=individual,highest=100"
"""The setting under which the report's algorithm comes furthest for as many games."""
LARGER = "population=1500,begins=individual,highest=100"
"""The same for three players, where fewer of the first individuals come near a win."""
TANKS_FIGURES = ("highest.svg", "mean.svg")

EXPERIMENTS = (
    ReportExperiment(
        "checkers-genetic-two",
        "chinese-checkers",
        "Distances evolved for two players",
        "An array that the genetic algorithm finds wins about 99% of its games against the "
        "hand-tuned one; the fittest, of generation 7,822, has a fitness of 427.4, a win in 72.6 "
        "plies. Nobody wins before generation 51.",
        "The fitness that the report gives is the highest of few games, not the mean of many. It "
        "leaves open the size of the population, the range of the random numbers, who begins, "
        "and which array measures a loser's way; its listing makes fewer children than its text. "
        "The hand-tuned array is in it as a figure only; ours follows its description. Where "
        "random numbers fall below those of the goal holes nobody ever wins. A population of 20 "
        "is all alike before it has come far; one of 1,000 that begins with numbers up to 100 is "
        "not. The report's sums of plies over five games, 363 and 417 with two players and 533 "
        "with three, agree with an array that always makes the first move; 533 is none where all "
        "do in turn. The array with the highest fitness, here as there by five games, is lucky: "
        "played anew it may win less than others do. A short run ends while its population still "
        "gets better; the array that ships is of 1,000 individuals and 150 generations.",
        training.of(
            {"two players": f"{GENETIC}:{SMALL},generations=60"},
            {"two players": f"{GENETIC}:{LARGE},generations=150", "20": f"{GENETIC}:population=20"},
            "The arrays of one run, tested in games that the evolution has not seen.",
            GENETIC_FIGURES,
        ),
    ),
    ReportExperiment(
        "checkers-evolved",
        "chinese-checkers",
        "The array that ships, tested anew",
        "The same: about 99% of the games against the hand-tuned array, and a fitness of 427.4.",
        "See above. Besides, an array that was selected by its games against one judge is only "
        "known to play well against that one, so others are asked here.",
        _evolved,
    ),
    ReportExperiment(
        "checkers-ceiling",
        "chinese-checkers",
        "What an array can reach at all",
        "A fitness of 427.4, a win in 72.6 plies, with two players; 393.4 with three.",
        "Both are the highest of very many individuals, each by five games, in which luck is "
        "selected. Here the array is optimised by an evolution strategy that sees 40 games of "
        "each, so as to know what can be asked of the report's algorithm under our rules.",
        _ceiling,
    ),
    ReportExperiment(
        "checkers-genetic-three",
        "chinese-checkers",
        "Distances evolved for three players",
        "The array of generation 3,594 wins 99.2% of its games with three players, with a fitness "
        "of 393.4; it takes more generations than with two.",
        "As with two players. The share is that of the games in which it was selected. With 100 "
        "individuals and first numbers up to 24 a population won 27% of its games after 4,875 "
        "generations; with the setting of the short run, more after 36. The array that ships is "
        "of a longer one.",
        training.of(
            {"three players": f"{GENETIC}:seats=3,{MEDIUM},generations=60"},
            {"three players": f"{GENETIC}:seats=3,{LARGER},generations=300"},
            "The arrays of one run, tested in games that the evolution has not seen.",
            GENETIC_FIGURES,
        ),
    ),
    ReportExperiment(
        "checkers-learned",
        "chinese-checkers",
        "Distances learned by an evolution strategy",
        "None: the report's genetic algorithm changes every hole by itself and plays greedy games.",
        "It leaves open what a more careful fit to stronger games would bring. Here 17 numbers "
        "describe the array, the same left and right, everybody plans two own moves ahead, and "
        "the fitness is how far ahead they come, not who wins.",
        training.of(
            {"two players": "chinese-checkers/learned:generations=12,openings=8"},
            {"two players": "chinese-checkers/learned", "four": "chinese-checkers/learned:seats=4"},
            "How far the array of a run is ahead of `stragglers`, of which it is a variation.",
            ("lead.svg", "array.svg"),
        ),
    ),
    ReportExperiment(
        "checkers-guided",
        "chinese-checkers",
        "Moves learned from searches",
        "None: the report has no Monte Carlo search, and its evaluations look at positions only.",
        "What it learns are distances, which tell a search how good a position is, but not which "
        "moves to look at. `kibitz train chinese-checkers/priors` fits that to the moves that a "
        "search chose in games against itself; `mcts-guided` plays by it, and judges positions as "
        "`mcts-learned` does. A name such as `alphabeta-race` is a search with an evaluation: "
        "`alphabeta:evaluation=race`.",
        _guided,
    ),
    ReportExperiment(
        "checkers-guided-six",
        "chinese-checkers",
        "Moves learned from searches, for six players",
        "None: the report's learning is for two players and three.",
        "With six players a search of all moves sees few plies of its own, so what it looks at "
        "first counts for more. The same command with `seats=6` learns from games of six. Every "
        "other seat is `mcts-guided`, the three between them are one older search, and that side "
        "is ahead whose seats have the higher mean score.",
        _guided_six,
    ),
    ReportExperiment(
        "checkers-sooner",
        "chinese-checkers",
        'The loop without "sooner is better"',
        "Of two moves with equal outcomes the search has to prefer the sooner one; without this "
        "check it can loop for ever, winning in two moves each time.",
        "In the report's own listing shorter plans are looked at first, and only a better one "
        "takes their place. There the check changes nothing. It is needed where a later plan of "
        "equal worth may take the place of an earlier one.",
        _sooner,
    ),
    ReportExperiment(
        "checkers-conspiring",
        "chinese-checkers",
        "Bots that recognise their own kind",
        "None: the report asks in a note what a bot would do that recognises others of its ilk and "
        "conspires, and has no such bot.",
        "Recognised by what, and to what end, is open. `chinese-checkers/conspirator` knows its "
        "kind by their names, which anybody may take, looks one move ahead as the others do, and "
        "adds half of what the position is worth to each friend, less a quarter of what it is to "
        "the best of the others. Such groups are why entrants of one owner should not meet at one "
        "table of an event with more than two seats.",
        _conspiring,
    ),
    ReportExperiment(
        "checkers-compiled",
        "chinese-checkers",
        "The same search, compiled and not",
        "Under PyPy the time-limited search looks one level deeper than under CPython.",
        "No figures are given. PyPy is not measured here: the same source runs compiled by Numba "
        "and as plain CPython.",
        _compiled,
    ),
    ReportExperiment(
        "checkers-searches",
        "chinese-checkers",
        "Searches against one ply",
        "Looking ahead is stronger than the best move at once; minimax counters what the search "
        "of the own moves only does not see.",
        "The report measures neither. As its minimax is listed, a player negates what a leaf is "
        "worth to that same player, a win included, and so prefers what is worst for it.",
        events.of(
            (
                "chinese-checkers-iddfs-hand",
                "chinese-checkers-minimax-hand",
                "chinese-checkers-alphabeta-hand",
                "chinese-checkers-minimax-euclid",
            ),
            "Against the greedy player of the same evaluation, the search of the own moves scores "
            "{chinese_checkers_iddfs_hand}, minimax {chinese_checkers_minimax_hand} and alpha-beta "
            "{chinese_checkers_alphabeta_hand}.",
        ),
    ),
    ReportExperiment(
        "tanks-report",
        "tanks",
        "The network of 225-10-7, evolved as described",
        "After 30 generations of 250 networks the trained one scores 460, 360, 410, 660 and 330 "
        "points in five games, against 180 to 440 of three random players.",
        "The fitness is one game, so luck is selected. The network reads the codes of its local "
        "board as they are, up to 44, with which tanh is saturated; the toolbox may have scaled "
        "them, so both readings are run. In the published program shells pay for every wreck that "
        "they hit and blocked moves turn the hull; the rules here do neither.",
        training.of(
            {"codes": "tanks/report:input=codes", "scaled": "tanks/report:input=scaled"},
            {"codes": "tanks/report:input=codes", "scaled": "tanks/report:input=scaled"},
            "The fittest network of generation 30, in five games as in the report's table and in "
            "many games that it was not selected by. Four random players score 341 points each.",
            TANKS_FIGURES,
        ),
    ),
    ReportExperiment(
        "tanks-neuroevolution",
        "tanks",
        "Beyond the report: a network that learns to play",
        "A network can be evolved that plays better than random players.",
        "As described it is not (see above). With inputs seen from the tank, several games in "
        "every seat for each network, and an evolution strategy, it is.",
        training.of(
            {"short": "tanks/neuroevolution:generations=60"},
            {"whole": "tanks/neuroevolution:generations=220"},
            "The network that one run came to, in games that it was not selected by. Four random "
            "players score 341 points each.",
            TANKS_FIGURES,
        ),
    ),
    ReportExperiment(
        "five-levels",
        "five-in-a-row",
        "Three levels, and the unbeatable one",
        "Beginner, Intermediate and Advanced look 0, 2 and 4 plies ahead; Advanced is unbeatable.",
        'No games are reported. In the listing the opponent\'s "tricky" test of one side looks at '
        "the wrong stone, and early returns leave the simulated stone on the board; its minimax "
        "also adds up the utilities of the moves on a line. The levels here are without the two "
        "faults.",
        events.of(
            (
                "five-beginner-random",
                "five-intermediate-beginner",
                "five-advanced-intermediate",
                "five-advanced-beginner",
                "five-threat-advanced",
            ),
            "Each level beats the one below: {five_intermediate_beginner} and "
            "{five_advanced_intermediate}. Advanced is not unbeatable: a search of threats scores "
            "{five_threat_advanced} against it.",
        ),
    ),
    ReportExperiment(
        "nim-sample",
        "line-nim",
        "Against the sample player",
        "The report's player wins 10 of 10 games against the sample, which plays at random.",
        "Ten games show a share of no less than 72%. Its test of isolated cells looks at the wrong "
        "column, and it leaves out some of the lines of three; `line-nim/capstone` does neither.",
        events.of(
            ("line-nim-capstone-random", "line-nim-solver-capstone"),
            "Without its faults it scores {line_nim_capstone_random} against the sample, and the "
            "exact solver {line_nim_solver_capstone} against it.",
        ),
    ),
    ReportExperiment(
        "nim-win-and-loss",
        "line-nim",
        "Against minimax that knows only won and lost",
        "It wins 5 of 5 games against a minimax whose evaluation has two values, won and lost; "
        "the test of isolated cells makes the difference.",
        "Five games show a share of no less than 57%, and nothing is said of the other player's "
        "depth or of who began. The two differ in more than the evaluation: this minimax does not "
        "prune. On one map the first player nearly always has a win, so each map is played twice.",
        _win_and_loss,
    ),
    ReportExperiment(
        "nim-pruning",
        "line-nim",
        "Depth with pruning and without",
        "With alpha-beta pruning the depth can grow from 5 to 10.",
        "No counts are given, and of the listing only the branch of the maximizing player is "
        "shown. It copies the whole board for every move.",
        _pruning,
    ),
    ReportExperiment(
        "merge-whole-tree",
        "number-merge",
        "The whole tree of a row of six",
        "The program generates every state of the game and follows a winning path.",
        "No games are reported. Its program finds children by wrong indices, swaps the levels of "
        "maximum and minimum, and never looks at the fifth move of the root. The threshold is "
        "called an average without saying of what; here it is that of the row, with which the "
        "first player of an even row wins.",
        _whole_tree,
    ),
)
