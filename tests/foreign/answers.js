// A promptfoo provider that gives the answer of the row whose question is asked; it has none where
// nothing was retrieved, so that the run has an error.
const { rows } = require('./rows.json');

module.exports = class Answers {
  id() {
    return 'answers';
  }

  async callApi(prompt, { vars }) {
    const row = rows.find(({ question }) => question === vars.question);
    if (!row.contexts.length) return { error: 'nothing was retrieved' };
    return {
      output: row.answer,
      metadata: { contexts: row.contexts },
      tokenUsage: { total: 12, prompt: 8, completion: 4 },
      cost: 0.0001,
    };
  }
};
