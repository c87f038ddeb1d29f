# Three documents and a decision record, counted in the tree and not in the report.
workflow tdd
from DOCUMENT
DOCUMENT says done tests 1/1 with docs_generated=2 has_adr=true
DOCUMENT says done tests 1/1 with docs_generated=5 has_adr=false
DOCUMENT says done docs_generated=9 has_adr=true tests 1/1 with docs_generated=1 has_adr=false
expect DOCUMENT iteration 3               # BP-38
expect claimed docs_generated=9
DOCUMENT says done tests 1/1 with docs_generated=3 has_adr=true
expect QA
