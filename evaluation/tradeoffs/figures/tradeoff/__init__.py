"""The figure of the trade-off, drawn by hand as SVG; docs/decisions/0027 says why.

Its parts:

the report's rows, a view of them, lines of restricted context
      |
      |    frame     the part of the unit square that is shown: ticks, curves of equal F1
      |    glyphs    shape, colour and fill of a setup, and the legend of these
      |    marks     setups in their places, with whiskers and labels
      |    spots     places of several marks, which move apart and are counted
      |    clusters  boxes around marks of one cluster
      |    lines     restricted context and simulated retrieval
      |    moves     arrows from one setup to another, in a figure of their own
      v
figure.figure_of(...)   a record of the place of everything; nothing covers anything else
      |
      |---- _figure.svg        in a page, with the page's colours, links and zoom
      '---- svg_files          a file (SVG, PDF, PNG) with light colours and a legend
"""
