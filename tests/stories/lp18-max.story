# Exactly three agents; what is left is known.
workflow plan
limit iterations 3
item a
item b
item c
item d
EXECUTE says TASK_COMPLETE x3
expect capped "3 of 3 iterations used"
expect exit 6
expect calls 3
expect items done 3
person raises 4
EXECUTE says TASK_COMPLETE
expect VERIFY                            # 3.7-7: verification runs at the cap too
VERIFY says passed
expect completed
