import { type Hint, type HintsAnswer, type IncidentsAnswer, isInWindow, spanOfHint } from '@sonde/sdk/api'

/** The parts of an answer that are about hints. */
type ListedIncidents = Omit<IncidentsAnswer, 'openCount' | 'traceback'>

/** The hints of the incidents of a past window: those that held at its end, and those that were over. */
export function hintsIn({ nowMs, fromMs, toMs, rules, blind, unknown, incidents, next }: ListedIncidents): HintsAnswer {
  // An incident of the window may have effects that were over before it, or began after it.
  const all = incidents.flatMap(({ hints }) => hints.filter((hint) => isInWindow(spanOfHint(hint), { fromMs, toMs })))
  const isOver = (hint: Hint) => hint.outcome !== undefined && spanOfHint(hint, toMs).toMs !== undefined
  const listedMs = incidents.at(-1)?.endMs ?? toMs
  const notListed = { fromMs, toMs: listedMs, reason: 'The window has more incidents; choose a shorter window.' }
  return {
    ...{ nowMs, fromMs, toMs, rules, blind },
    hints: all.filter((hint) => !isOver(hint)),
    ended: all.filter(isOver),
    unknown: next === undefined ? unknown : [notListed, ...unknown],
  }
}
