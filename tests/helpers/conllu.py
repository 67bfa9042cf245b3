"""A file of three sentences in CoNLL-U."""

# The last line, of which a file of its own can be made.
ROW = "1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n"
UNIVERSAL = f"""\
# newdoc id = a = x
# newpar
# sent_id = 1
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tvamos\tir\tVERB\t_\t_\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\tSpace After
2.1\tnada\tnada\tNOUN\t_\t_\t_\t_\t_\t_

# newdoc id = b

# sent_id = 2
1\t#\t#\tSYM\t_\t_\t0\troot\t_\t_

# sent_id = 3
{ROW}"""
