import type { Hint, IncidentAnswer } from '@sonde/sdk/api'
import { IMAGE, LONG } from './hostile.ts'

const YEAR_MS = 365 * 86_400_000
/** More than any page of an incident shows at once. */
const EFFECT_COUNT = 60
const AFFECTED_COUNT = 40
const NOTE_COUNT = 30

/** An incident with texts of a stranger. Its device and its samples are gone. */
export function hostileAnswer({ incident, window, nowMs }: IncidentAnswer): IncidentAnswer {
  const cause = incident.hints[0]!
  const title = `${IMAGE} \u202e\u0000\n${LONG}`
  return {
    ...{ nowMs, window: { fromMs: window.fromMs - YEAR_MS, toMs: window.toMs - YEAR_MS } },
    incident: {
      ...incident,
      ...{ id: 'gone:7000000000000000000', node: IMAGE, title, sentence: `${LONG} ${IMAGE}`, device: LONG },
      ...{ affected: [IMAGE, `${LONG}\u202e`], startMs: incident.startMs - YEAR_MS, rule: LONG },
      hints: [{ ...cause, title, device: LONG, evidence: [{ metric: LONG, function: 'rate', matchers: [] }] }],
    },
    opened: { atMs: incident.startMs - YEAR_MS, sentence: IMAGE, value: 1 },
    notes: [{ atMs: nowMs, who: LONG, text: `${IMAGE}\n\u202e${LONG}` }],
    pin: { atMs: nowMs, who: IMAGE, records: 3, bytes: 90, isCut: true, command: `sonde read /${LONG}` },
  }
}

/** An incident with many effects, affected devices and notes. */
export function longAnswer(answer: IncidentAnswer): IncidentAnswer {
  const { incident, nowMs } = answer
  const cause = incident.hints[0]!
  const effect = (at: number): Hint => ({
    ...cause,
    event: `${at}`,
    title: `Effect ${at}`,
    sinceMs: cause.sinceMs + at,
  })
  return {
    ...answer,
    incident: {
      ...incident,
      affected: Array.from({ length: AFFECTED_COUNT }, (_, at) => `sim-gpu-${at}`),
      hints: [cause, ...Array.from({ length: EFFECT_COUNT }, (_, at) => effect(at + 1))],
    },
    notes: Array.from({ length: NOTE_COUNT }, (_, at) => ({ atMs: nowMs + at, who: '', text: `Note ${at + 1}` })),
  }
}
