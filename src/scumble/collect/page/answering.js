// The page of who answers: questions, the picture of what will be sent, and sending it.

import { idOf, messageOf, perturbed, periodOf } from "./answers.js";
import { Device, pause, post } from "./device.js";
import { make, show } from "./dom.js";
import { form } from "./form.js";
import { opened } from "./frame.js";
import { picture } from "./picture.js";
import { promise } from "./promise.js";
import { Later, tokenFor } from "./tokens.js";

const TYPE = "application/vnd.scumble.answers+json";
const main = document.getElementById("main");

class Answering {
  constructor(page) {
    Object.assign(this, page);
    this.page = page;
    this.period = periodOf(this.survey.period);
    this.device = new Device();
  }

  start() {
    const { survey, say } = this;
    const former = this.device.message(survey, this.period);
    if (former?.state === "taken") return this.done(say("answered"), say("answered_help"));
    if (former) return this.send(former.body);
    if (survey.until && new Date() > new Date(survey.until)) return show(main, make("p", { class: "warning" }, say("over")));
    return this.ask({});
  }

  ask(former) {
    const { survey, say, messages } = this;
    show(main,
      make("section", { class: "promise", "aria-labelledby": "promised" },
        make("h2", { id: "promised" }, say("promised")),
        make("p", { class: "sentence" }, promise(survey.gamma, messages, Boolean(survey.period))),
        make("p", {}, say("how")),
        make("p", { class: "aside" }, say(survey.tokens), survey.period ? ` ${say("period", { period: this.period })}` : ""),
        this.device.kept ? null : make("p", { class: "warning" }, say("forgets"))),
      make("section", { "aria-label": say("questions") }, form(this.page, former, (record, code) => this.look(record, code))),
      survey.live?.readers === "public" ? make("p", {}, make("a", { href: "live" }, say("to_live"))) : null);
  }

  /** The picture of what would be sent. */
  async look(record, code) {
    const { survey, say } = this;
    const keyed = await this.device.keyed();
    const sent = await perturbed(survey, record, keyed);
    const codes = sent.map((each) => each.code);
    const blind = survey.tokens === "blind";
    const body = (token) => idOf(survey, this.period, keyed).then((id) => messageOf(survey, codes, { id, period: this.period, token }));
    const shown = await body(blind ? "" : code);
    show(main,
      make("section", { "aria-labelledby": "review" },
        make("h2", { id: "review" }, say("review")),
        make("p", {}, say("review_help")),
        picture(this.page, sent),
        make("p", { class: "aside" }, say("same_coin")),
        make("details", {}, make("summary", {}, say("message")), make("pre", { id: "message", tabindex: "0" }, shown), blind ? make("p", {}, say("token_later")) : null),
        make("div", { class: "buttons" },
          make("button", { type: "button", onclick: () => this.ask({ record, code }) }, say("back")),
          make("button", { type: "button", class: "main", onclick: () => this.exchanged(blind, code, body, record) }, say("send")))));
  }

  /** Sends it, with a token where the survey asks for one that nobody can link to a code. */
  async exchanged(blind, code, body, record, tries = 0) {
    show(main, make("p", { role: "status" }, this.say("sending")));
    try {
      return this.send(await body(blind ? await tokenFor(this.survey, this.period, code, this.device) : code));
    } catch (error) {
      if (error instanceof Later) return this.wait(() => this.exchanged(blind, code, body, record, tries + 1), tries, error.after);
      return this.failed(error.message, () => this.ask({ record, code }));
    }
  }

  /** Sends what is on the device by then, until it is taken or refused. */
  async send(body, tries = 0) {
    const { survey, say } = this;
    this.device.keep(survey, this.period, { body, state: "waiting" });
    show(main, make("p", { role: "status" }, say("sending")));
    const reply = await post("answers", body, TYPE);
    if (reply.done) {
      this.device.keep(survey, this.period, { body, state: "taken" });
      return this.done(say(reply.document.repeated ? "taken_again" : "taken"), say("answered_help"));
    }
    if (reply.later) return this.wait(() => this.send(body, tries + 1), tries, reply.after);
    this.device.drop(survey, this.period);
    return this.failed(reply.why, () => this.start());
  }

  /** Tells that the server was not there, and tries again. */
  wait(next, tries, after) {
    const { say } = this;
    const seconds = Math.max(after, pause(tries));
    let timer = null;
    const again = () => {
      clearTimeout(timer);
      return next();
    };
    timer = setTimeout(again, seconds * 1000);
    show(main, make("p", { role: "status", class: "warning" }, say("waits", { seconds })), make("button", { type: "button", onclick: again }, say("try_now")));
  }

  failed(why, back) {
    const { say } = this;
    show(main, make("p", { role: "alert", class: "warning" }, say("refused", { why })), make("button", { type: "button", onclick: back }, say("back")));
  }

  done(sentence, help) {
    const { survey, say } = this;
    const forget = () => {
      this.device.forget(survey, this.period);
      this.start();
    };
    show(main,
      make("section", {}, make("h2", {}, sentence), make("p", {}, help), survey.live?.readers === "public" ? make("p", {}, make("a", { href: "live" }, say("to_live"))) : null),
      make("section", { class: "another" }, make("p", { class: "aside" }, say("another_help")), make("button", { type: "button", onclick: forget }, say("another"))));
  }
}

const page = await opened();
if (page) new Answering(page).start();
