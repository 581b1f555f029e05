"""Files that take their places all together, whatever ends the process that writes them.

    DIR/.tacita-0123456789abcdef/    a draft: private, locked while its run lives, else removed by the next
        new/publication/*            what is to come, complete before anything moves
        old/publication/*            what was there, until everything has moved
    DIR/.tacita-switch/              there while files move: the journal, by which the next run undoes it
    DIR/publication/INCOMPLETE.txt   there while a folder holds files of two releases

Drafts never lie inside the folders that they are meant for. A folder that holds nothing but results is
switched by one step of the system where it offers one; else file by file, marked as long as it takes.

Imports: core.
"""
