"""The table of experiments, in page order; slow imports are deferred until a measurement runs."""

from __future__ import annotations

import functools
import pkgutil
from collections.abc import Callable, Mapping

from benchmarks.experiments import events, tanks, training
from benchmarks.experiments.experiment import Measure, ReportExperiment, Scale
from benchmarks.experiments.outcomes import Outcome

REPORTS = {
    "chinese-checkers": "Fun With Chinese Checkers",
    "tanks": "AI Based Tanks Game (Namal College, 2018)",
    "five-in-a-row": "5 in a Row (Shahjalal University of Science and Technology, 2014)",
    "line-nim": "AI Capstone assignment 2 (NYCU, 2023)",
    "number-merge": "Practical assignment 1 (Riga Technical University)",
}
"""The reports, by game."""


def _measure(reference: str) -> Callable[[], Measure]:
    """Return the loader of a ``module:function`` of this package."""
    return functools.partial(pkgutil.resolve_name, f"benchmarks.experiments.{reference}")


GENETIC_PLOTS = training.plots(
    "fitness.svg",
    "wins.svg",
    "array-first.svg",
    "array-first-win.svg",
    "array-middle.svg",
    "array-fittest.svg",
    "array-best.svg",
)
GENETIC = "chinese-checkers/genetic"
SMALL = "population=200,begins=individual,highest=100"
"""Parameters of short runs. A small population saves time in the first, slow generations."""
OLD = "population=20,begins=turns,highest=24"
"""The parameters of a population that becomes uniform before it makes much progress."""
MEDIUM = "population=300,begins=individual,highest=100"
"""`SMALL` for three players."""
LARGE = "population=1000,begins=individual,highest=100"
"""The parameters with the best result for the number of games."""
LARGER = "population=1500,begins=individual,highest=100"
"""`LARGE` for three players: fewer of the initial individuals come close to a win."""
TANKS_RUNS = {
    "codes": "tanks/report:input=codes",
    "scaled": "tanks/report:input=scaled",
    "codes, quirks": "tanks/report:input=codes,quirks=true",
    "scaled, quirks": "tanks/report:input=scaled,quirks=true",
}

EXPERIMENTS = (
    ReportExperiment(
        "checkers-genetic-two",
        "chinese-checkers",
        "Distances evolved for two players",
        "An array found by the genetic algorithm wins about 99% of its games against the "
        "hand-tuned array. The fittest array, of generation 7,822, has a fitness of 427.4, a win "
        "in 72.6 plies. No array wins before generation 51.",
        "The reported fitness is the maximum over a few games, not the mean over many. The "
        "report does not state the size of the population, the range of the random numbers, who "
        "begins, or which array measures the loser's distance. Its listing creates fewer "
        "children than its text describes. It shows the hand-tuned array only as a figure, so "
        "the array here follows the report's description. If random numbers are below those of "
        "the goal holes, no individual ever wins. A population of 20 becomes uniform before it "
        "makes much progress; a population of 1,000 with initial numbers of up to 100 does not. "
        "The report's total plies over five games are 363 and 417 with two players and 533 with "
        "three. They suggest that the array always moves first, because a total of 533 is "
        "impossible if the players take turns beginning. The array with the highest fitness over "
        "five games, here as in the report, is partly lucky: in new games, it may win less often "
        "than others. Short runs end while the population is still improving. The shipped array "
        "comes from 1,000 individuals and 150 generations.",
        training.of(
            {"two players": f"{GENETIC}:{SMALL},generations=60"},
            {
                "two players": f"{GENETIC}:{LARGE},generations=150",
                "20": f"{GENETIC}:{OLD},generations=8000",
            },
            "The arrays of one run, tested in games not used during evolution.",
            GENETIC_PLOTS,
        ),
    ),
    ReportExperiment(
        "checkers-evolved",
        "chinese-checkers",
        "The shipped array in new games",
        "As above: about 99% of the games against the hand-tuned array, and a fitness of 427.4.",
        "See above. In addition, an array selected by its games against one judge is only known "
        "to play well against that judge, so this test includes other judges.",
        _measure("shipped:evolved"),
    ),
    ReportExperiment(
        "checkers-ceiling",
        "chinese-checkers",
        "The best that an array can achieve",
        "A fitness of 427.4 with two players, which is a win in 72.6 plies, and of 393.4 with "
        "three.",
        "Both values are the maximum over very many individuals with five games each, so they "
        "are partly due to luck. Here, an evolution strategy with 40 games per individual "
        "optimizes the array, to show what the report's algorithm could achieve under the rules "
        "of kibitz.",
        _measure("ceiling:ceiling"),
    ),
    ReportExperiment(
        "checkers-genetic-three",
        "chinese-checkers",
        "Distances evolved for three players",
        "The array of generation 3,594 wins 99.2% of its games with three players, with a "
        "fitness of 393.4; evolution takes more generations than with two players.",
        "As with two players. The win rate is from the same games that selected the array. The "
        "shipped array comes from a longer run.",
        training.of(
            {"three players": f"{GENETIC}:seats=3,{MEDIUM},generations=60"},
            {"three players": f"{GENETIC}:seats=3,{LARGER},generations=300"},
            "The arrays of one run, tested in games not used during evolution.",
            GENETIC_PLOTS,
        ),
    ),
    ReportExperiment(
        "checkers-learned",
        "chinese-checkers",
        "Distances learned by an evolution strategy",
        "None: the report's genetic algorithm changes each hole separately and plays greedy games.",
        "The report does not try a more careful fit to stronger games. Here, 17 numbers describe "
        "a left-right symmetric array, all players plan two of their own moves ahead, and the "
        "fitness is the size of the lead, not who wins.",
        training.of(
            {"two players": "chinese-checkers/learned:generations=12,openings=8"},
            {"two players": "chinese-checkers/learned", "four": "chinese-checkers/learned:seats=4"},
            "The lead of one run's array over `stragglers`, from which the run starts.",
            training.plots("lead.svg", "array.svg"),
        ),
    ),
    ReportExperiment(
        "checkers-guided",
        "chinese-checkers",
        "Moves learned from searches",
        "None: the report has no Monte Carlo search, and its evaluations score positions only.",
        "The report learns distances, which tell a search how good a position is, but not which "
        "moves to consider. `kibitz train chinese-checkers/priors` fits priors to the moves that "
        "a search chose in games against itself; `mcts-guided` uses these priors, and evaluates "
        "positions like `mcts-learned`. A name such as `alphabeta-race` means a search with an "
        "evaluation: `alphabeta:evaluation=race`. In the run below, `champion` was "
        "`mcts-stragglers`, without priors.",
        _measure("guided:guided"),
    ),
    ReportExperiment(
        "checkers-guided-six",
        "chinese-checkers",
        "Moves learned from searches, for six players",
        "None: the report's learning covers two and three players.",
        "With six players, a search of all moves sees only few of its own plies, so the order of "
        "its moves matters more. The same command with `seats=6` learns from games with six "
        "players. Every other seat is `mcts-guided`, the three seats between them are one older "
        "search, and the side with the higher mean score wins. In the run below, `champion` was "
        "`mcts-stragglers` with half the exploration, and the priors were from games without "
        "planners.",
        _measure("guided:guided_six"),
    ),
    ReportExperiment(
        "checkers-sooner",
        "chinese-checkers",
        'The loop without "sooner is better"',
        "Of two moves with equal outcomes, the search must prefer the sooner one; without this "
        "check it can loop forever, always two moves away from winning.",
        "The report's own listing considers shorter plans first and replaces a plan only by a "
        "better one, so the check changes nothing there. The check is needed if a later plan of "
        "equal value can replace an earlier one.",
        _measure("chinese_checkers:sooner"),
    ),
    ReportExperiment(
        "checkers-conspiring",
        "chinese-checkers",
        "Bots that recognize their own kind",
        "None: in a note, the report asks what a bot would do that recognizes others of its ilk "
        "and conspires with them, but it has no such bot.",
        "The report does not say how bots would recognize each other, or for what purpose. "
        "`chinese-checkers/conspirator` recognizes its kind by their names, which anyone can "
        "use. It looks one move ahead like the other bots. To its own value of a position it "
        "adds half of each friend's value, and subtracts a quarter of the best opponent's. "
        "Because of such groups, entrants of one owner should not play at the same table in "
        "events with more than two seats.",
        _measure("conspiring:conspiring"),
    ),
    ReportExperiment(
        "checkers-pypy",
        "chinese-checkers",
        "The same search under PyPy, CPython and Numba",
        "Under PyPy, the time-limited search looks one level deeper than under CPython.",
        "The report gives neither a time limit nor any figures, and its program is not printed. "
        "Here, a program on plain lists without any packages runs under both interpreters. The "
        "kernels of kibitz, which visit the same positions, need numpy and run under CPython "
        "with and without Numba. All times are CPU time after a warm-up, in which PyPy and Numba "
        "compile. Without `pypy3`, the experiment is skipped and its stored result stays.",
        _measure("interpreters:compare"),
    ),
    ReportExperiment(
        "checkers-searches",
        "chinese-checkers",
        "Searches against a one-ply player",
        "Looking ahead is stronger than playing the best immediate move. Minimax counters "
        "threats that a search of its own moves does not see.",
        "The report measures neither claim. In its minimax listing, a player negates its own "
        "value of a leaf. This is right if lower evaluations are better, as the text there says, "
        "but wrong for a win. The bots here prefer both higher evaluations and wins.",
        events.of(
            (
                "chinese-checkers-iddfs-hand",
                "chinese-checkers-minimax-hand",
                "chinese-checkers-alphabeta-hand",
                "chinese-checkers-minimax-euclid",
            ),
            "Against the greedy player with the same evaluation, the search of its own moves "
            "scores {chinese_checkers_iddfs_hand}, minimax {chinese_checkers_minimax_hand} and "
            "alpha-beta {chinese_checkers_alphabeta_hand}.",
        ),
    ),
    ReportExperiment(
        "checkers-hand-euclid",
        "chinese-checkers",
        "Hand-tuned distances against Euclidean ones",
        "The hand-tuned distances are better than the Euclidean ones.",
        "The report describes no games between the two.",
        _measure("heuristics:hand_tuned"),
    ),
    ReportExperiment(
        "checkers-cohesion",
        "chinese-checkers",
        "Pegs that stay together",
        "To keep the pegs in a cluster, which allows jumps, is good with two players, and less "
        "so on a crowded board.",
        "The report describes no games. All players use the hand-tuned distances. One of them "
        "adds a bonus for pegs side by side, or for the steps that each peg's best jumps gain "
        "(mobility). This player takes every seat in turn.",
        _measure("heuristics:cohesion"),
    ),
    ReportExperiment(
        "checkers-center",
        "chinese-checkers",
        "Keeping to the middle",
        "Pegs in the central area are worth more with two players. On a crowded board, the ways "
        "around it may be better.",
        "The report describes no games. One player uses the hand-tuned distances. The others use "
        "them without the penalty for holes beside the center lane.",
        _measure("heuristics:center"),
    ),
    ReportExperiment(
        "checkers-left-behind",
        "chinese-checkers",
        "A penalty for pegs left behind",
        "The three pegs in the deepest holes of a corner risk being trapped, so the hand-tuned "
        "distances have a great penalty for these holes.",
        "The report describes no games without the penalty and does not give its size; here, it "
        "is as much as four steps. One player uses the hand-tuned distances. The others use them "
        "without this penalty.",
        _measure("heuristics:left_behind"),
    ),
    ReportExperiment(
        "checkers-seats",
        "chinese-checkers",
        "The value of a seat",
        "None: the report's arena compares bots, but not the seats that they play on.",
        "The same bot plays on all seats, so that only the seat differs.",
        _measure("heuristics:seats"),
    ),
    ReportExperiment(
        "checkers-phases",
        "chinese-checkers",
        "Minimax in the middle phase",
        "A note proposes a bot that searches only its own moves at first, uses minimax in the "
        "middle game, and searches only its own moves again at the end.",
        "The report has no such bot. `chinese-checkers/phases` searches only its own moves in "
        "the middle game. Here, it plays against the same bot with minimax in the middle game, and "
        "both play the endgame from the same database. Each game begins with two random moves per "
        "player, after which the opening book rarely has an answer.",
        _measure("heuristics:phases"),
    ),
    ReportExperiment(
        "checkers-book",
        "chinese-checkers",
        "An opening book",
        "Until the pegs meet, a book of pre-computed moves helps with two or three players.",
        "The report has no book and no games. One player has the book of "
        "`chinese-checkers/phases`, the others play the same search without it; its seat turns.",
        _measure("heuristics:opening_book"),
    ),
    ReportExperiment(
        "checkers-arrays",
        "chinese-checkers",
        "The arrays as pictures",
        "A figure shows the hand-tuned distances, and others show evolved ones.",
        "The report gives no numbers for the hand-tuned distances, so the picture here follows "
        "its description. The arrays of a run's generations are shown above, with the run.",
        _measure("arrays:arrays"),
    ),
    ReportExperiment(
        "tanks-report",
        "tanks",
        "The 225-10-7 network, evolved as described",
        "After 30 generations of 250 networks, the trained network scores 460, 360, 410, 660 and "
        "330 points in five games, compared with 180 to 440 for three random players.",
        "The fitness is the score of a single game, so luck plays a large part in selection. The "
        "network reads the raw codes of its local board, up to 44, which saturate tanh. The "
        "toolbox may have scaled them, so both versions are run. In the published program, shells "
        "score for every wreck that they hit, and blocked moves turn the hull, here in the "
        'direction of the move. The runs "with quirks" do both; the rules of kibitz do neither. '
        "Two more quirks are left out: the program's fourth player plays the turns of destroyed "
        "tanks, and the game hangs when the fourth tank is destroyed. The report's Figures 8 and 9 "
        "are curves without numbers, so the plots here show the mean of its five games instead.",
        training.of(
            TANKS_RUNS,
            TANKS_RUNS,
            "The fittest network of generation 30, in five games as in the report's table, and "
            "in many new games that were not used to select it. The "
            "[page of the game](games/tanks.md#house-bots) has the points of four random players.",
            tanks.generations,
        ),
    ),
    ReportExperiment(
        "tanks-neuroevolution",
        "tanks",
        "Beyond the report: a network that learns to play",
        "Evolution can produce a network that plays better than random players.",
        "With the report's method, it does not (see above). It does with inputs relative to the "
        "tank, several games in every seat for each network, and an evolution strategy.",
        training.of(
            {"short": "tanks/neuroevolution:generations=60"},
            {"whole": "tanks/neuroevolution:generations=220"},
            "The resulting network of one run, in new games that were not used to select it. "
            "The [page of the game](games/tanks.md#house-bots) has the points of four random "
            "players.",
            training.plots("highest.svg", "mean.svg"),
        ),
    ),
    ReportExperiment(
        "tanks-minimax-tree",
        "tanks",
        "Minimax on tic-tac-toe",
        "Minimax plays tic-tac-toe very well. Figure 3 shows a tree of it.",
        "The report describes no games. The tree drawn here begins with three empty cells, so "
        "that it fits into a picture.",
        _measure("small_games:minimax_tree"),
    ),
    ReportExperiment(
        "tanks-astar",
        "tanks",
        "A* with its closed list and its fringe",
        "A* keeps a closed list and a fringe list, as Figure 4 shows, and is fast on the grid of "
        "the game Snails.",
        "The report does not give the rules of Snails. Here, A* finds paths around rocks and is "
        "compared with a breadth-first search.",
        _measure("small_games:astar_lists"),
    ),
    ReportExperiment(
        "five-levels",
        "five-in-a-row",
        "Three levels, one of them unbeatable",
        "Beginner, Intermediate and Advanced look 0, 2 and 4 plies ahead; Advanced is unbeatable.",
        "The report describes no games. In the listing, the opponent's test for one kind of "
        '"tricky" five checks the wrong stone, and early returns leave the trial stone on the '
        "board. Its minimax also adds up the utilities of the moves on a line. The levels here "
        "do not have the first two bugs.",
        events.of(
            (
                "five-beginner-random",
                "five-intermediate-beginner",
                "five-advanced-intermediate",
                "five-advanced-beginner",
                "five-threat-advanced",
            ),
            "Intermediate scores {five_intermediate_beginner} against Beginner, and Advanced "
            "{five_advanced_intermediate} against Intermediate. Advanced is not unbeatable: a "
            "threat search scores {five_threat_advanced} against it.",
        ),
    ),
    ReportExperiment(
        "five-unbeatable",
        "five-in-a-row",
        "The advanced level against current bots",
        "Advanced is unbeatable.",
        "The report describes no games. Here, Advanced plays every other bot of the game. Bots "
        "with a clock have a tenth of a second per move.",
        _measure("five_in_a_row:unbeatable"),
    ),
    ReportExperiment(
        "five-flow-chart",
        "five-in-a-row",
        "The flow chart of the levels",
        "A flow chart shows how the computer chooses its stone.",
        "The report's chart is drawn by hand. This one is generated from the table of utilities "
        "and the levels of the bots. A test for the opponent's stone checks what that stone "
        "would make in the same cell.",
        _measure("five_in_a_row:chart"),
    ),
    ReportExperiment(
        "five-grid-and-depth",
        "five-in-a-row",
        "Board size, depth and time",
        "The board had to be made smaller to search more plies.",
        "The report gives no times. The levels here prune, unlike the listing; the table also "
        "counts the lines that a search without pruning would visit.",
        _measure("five_in_a_row:grid_and_depth"),
    ),
    ReportExperiment(
        "nim-sample",
        "line-nim",
        "Against the sample player",
        "The report's player wins 10 of 10 games against the sample player, which plays at random.",
        "Ten wins only show a win rate of at least 72%. The report's test for isolated cells "
        "looks at the wrong column, and it omits some of the lines of three; `line-nim/capstone` "
        "has neither error.",
        events.of(
            ("line-nim-capstone-random", "line-nim-solver-capstone"),
            "Without these faults, the player scores {line_nim_capstone_random} against the "
            "sample, and the exact solver scores {line_nim_solver_capstone} against the player.",
        ),
    ),
    ReportExperiment(
        "nim-win-and-loss",
        "line-nim",
        "Against a minimax that evaluates only wins and losses",
        "The report's player wins 5 of 5 games against a minimax that evaluates positions only "
        "as won or lost. The difference is its test for isolated cells.",
        "Five wins only show a win rate of at least 57%, and the report states neither the "
        "opponent's depth nor who began. The two players differ in more than the evaluation: "
        "this minimax does not prune. On a given map the first player nearly always has a "
        "winning strategy, so each map is played twice.",
        _measure("line_nim:win_and_loss"),
    ),
    ReportExperiment(
        "nim-pruning",
        "line-nim",
        "Depth with and without pruning",
        "With alpha-beta pruning, the depth can grow from 5 to 10.",
        "The report gives no counts, and lists only the branch of the maximizing player. Its "
        "program copies the whole board for every move.",
        _measure("line_nim:pruning"),
    ),
    ReportExperiment(
        "nim-threshold",
        "line-nim",
        "The threshold of 22 moves and the timeouts",
        "If there are more than 22 moves, a random one is played: few of them would bring an "
        "advantage, and a search would take too long. The search may still time out sometimes.",
        "The report counts no timeouts and tries no other thresholds. Here, a search times out "
        "if it has not completed 5 (or 10) plies in time and has not found the winner; it then "
        "plays the best move so far. The number of timeouts depends on the machine and its other "
        "load.",
        _measure("line_nim:threshold"),
    ),
    ReportExperiment(
        "nim-depths",
        "line-nim",
        "Depths from 5 to 10",
        "The search depth is one of two parameters that the report's author tuned.",
        "The report describes no games at other depths. Here, each depth plays the lowest one "
        "without a clock.",
        _measure("line_nim:depths"),
    ),
    ReportExperiment(
        "nim-alphabeta",
        "line-nim",
        "Alpha-beta with a transposition table against the report's player",
        "None: the report supposes that other algorithms would rank higher.",
        "Alpha-beta with a transposition table searches from the first move on, while the "
        "report's player begins with random moves.",
        _measure("line_nim:alphabeta"),
    ),
    ReportExperiment(
        "merge-whole-tree",
        "number-merge",
        "The full game tree of a row of six",
        "The program generates every state of the game and follows a winning path.",
        "The report describes no games. Its program computes wrong indices for children, swaps "
        "the maximizing and minimizing levels, and never considers the fifth move of the root. "
        "It calls the threshold an average without saying what it is the average of. Here, it is "
        "the average of the row; with this threshold, the first player of an even row wins.",
        _measure("number_merge:whole_tree"),
    ),
    ReportExperiment(
        "merge-as-printed",
        "number-merge",
        "The program as printed",
        "The program follows a winning path.",
        "Read literally, the listing takes the children of a state from the wrong indices, takes "
        "the maximum instead of the minimum and vice versa, and considers at most four children. "
        "One line is missing in print; the program here includes it, because otherwise it would "
        "never end.",
        _measure("merge_tree:as_printed"),
    ),
    ReportExperiment(
        "merge-tree",
        "number-merge",
        "The tree with its values",
        "A figure shows a tree with maximum and minimum levels. The states are written as lists "
        "with their values, +1, 0 and -1.",
        "The report draws no complete tree. Here, a row of four is short enough to draw all of "
        "it. Values are from the first player's perspective.",
        _measure("merge_tree:tree"),
    ),
)


def current(kept: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """Return the stored outcomes; those copied from events are tabulated from the events' results.

    Raises `UnavailableError` if an event has no result.
    """
    copied = [each for each in EXPERIMENTS if each.name in kept and kept[each.name].copied]
    fresh = {each.name: kept[each.name].updated(each.load()(Scale())) for each in copied}
    return {**kept, **fresh}
