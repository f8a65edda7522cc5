"""Workers: local or remote processes that run tasks of a tournament or a training run.

Modules:

    port               the JSON of a pool, and the error of an unusable one
    tasks              the tasks by name: JSON in, JSON out
    worker             the process of a worker, which reads its tasks from a pipe
    process_pool       workers that are processes of this machine
    ray_pool           workers that are tasks of a Ray cluster
    blocks             the task that plays blocks of games, and the data that it needs
    thread_bridge      a pool for code without an event loop
"""
