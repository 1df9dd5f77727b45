// One promptfoo test for each row of rows.json, with asserts that ask no language model.
const { rows } = require('./rows.json');

module.exports = () =>
  rows.map(({ question, contexts, reference }, place) => ({
    description: `row ${place + 1}`,
    vars: { question, context: contexts.join('\n\n'), reference },
    metadata: { place: place + 1 },
    assert: [
      { type: 'equals', value: reference, metric: 'exact match' },
      { type: 'contains', value: '1846', metric: 'names the year', weight: 2 },
      { type: 'rouge-n', value: reference, threshold: 0.5 },
    ],
  }));
