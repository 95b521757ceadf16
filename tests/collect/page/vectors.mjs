// The test vectors of docs/protocol.md against the page's own modules: what does not come out. Node and a browser run the same.

/** One line for each vector that comes out otherwise. */
export async function failures(modules, vectors, english) {
  const { document, coins, survey, answers } = modules;
  const wrong = [];
  const same = (about, found, expected) => {
    if (JSON.stringify(found) !== JSON.stringify(expected)) wrong.push(`${about}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
  };
  for (const { text, sha256 } of vectors.canonical) same(text, await document.digestOf(document.parsed(text)), sha256);
  for (const each of vectors.channels) {
    const [memoised, fresh] = coins.stagesOf(each.channel);
    const drawn = each.draws ? [[memoised, each.draws]] : [[memoised, each.memoised], [fresh, each.fresh]];
    for (const [channel, draws] of drawn)
      for (const [place, word, code] of draws) same(`${each.name} ${place} ${word}`, coins.decided(channel, place, BigInt(word))?.code ?? null, code);
    same(`${each.name}: factor`, coins.factor(each.channel).map(String), each.gamma);
  }
  for (const each of vectors.memoised) {
    const keyed = await coins.keyedBy(bytes(each.secret));
    const words = coins.memoisedWords(each.bits, keyed, each.series, each.stream, each.place);
    for (let turn = 0; turn < each.turn; turn++) await words();
    same(`word ${each.place} ${each.turn}`, String(await words()), each.word);
  }
  for (const each of vectors.surveys) await ofSurvey(each, same);
  return wrong;

  async function ofSurvey(each, same) {
    const read = await survey.readSurvey(each.document, english);
    same("digest", read.digest, each.digest);
    same("signature", read.signed, true);
    same("promise", read.promise, each.promise);
    for (const question of read.questions) same(`stream of ${question.name}`, question.stream, each.streams[question.name]);
    for (const { record, secret, id, period, token, message } of each.answers) {
      const texts = Object.fromEntries(Object.entries(record).map(([name, value]) => [name, value === null ? "" : String(value)]));
      const sent = await answers.perturbed(read, texts, await coins.keyedBy(bytes(secret)));
      same("message", answers.messageOf(read, sent.map((one) => one.code), { id, period, token }), message);
    }
    for (const [from, to] of [["\"flu\"", "\"fly\""], ["\"version\": 1", "\"version\": 2"], ["at most", "at least"], ["\"title\"", "\"tittle\""]]) {
      const refused = await survey.readSurvey(each.document.replace(from, to), english).then(() => "taken", () => "refused");
      same(`a survey with ${to}`, refused, "refused");
    }
  }

  function bytes(text) {
    return Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
  }
}
