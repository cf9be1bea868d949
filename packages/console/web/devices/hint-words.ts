import { type Hint, spanOfHint } from '@sonde/sdk/api'
import type { StateTone } from '../components/state-mark.tsx'
import { formatAge, formatDateTime, type TimeZoneChoice, zoneName } from '../format/time.ts'
import type { Tense } from '../format/words.ts'

/** The moment that sentences describe. Times in milliseconds since the Unix epoch. */
export interface SpokenMoment {
  /** Now, or the time of the last message of the server. */
  readonly nowMs: number
  /** End of the shown window; absent if the page shows the present. */
  readonly toMs?: number | undefined
  readonly tense: Tense
  readonly zone: TimeZoneChoice
}

/** Whether the condition of a hint still holds. Only then its sentences use the present tense. */
export function holdsNow(hint: Hint, { toMs, tense }: Pick<SpokenMoment, 'toMs' | 'tense'>): boolean {
  return toMs === undefined && tense === 'present' && spanOfHint(hint).toMs === undefined
}

/** Icon and word of a hint. Unconfirmed and ended hints are not marked as trouble. */
export function hintState({ stage, severity, outcome }: Pick<Hint, 'stage' | 'severity' | 'outcome'>): {
  readonly tone: StateTone & ('critical' | 'warning' | 'info')
  readonly word: string
} {
  if (outcome === 'dismissed') return { tone: 'info', word: 'Not confirmed' }
  if (stage === 'forming') return { tone: 'info', word: 'Forming' }
  if (stage === 'lingering' && outcome === undefined) return { tone: 'info', word: 'Holds no more' }
  if (severity === 'notice') return { tone: 'info', word: 'Notice' }
  return { tone: severity, word: severity === 'critical' ? 'Critical' : 'Warning' }
}

/** Icon and word of an ended hint: ended, never confirmed, or cut off before its end was seen. */
export function outcomeState({ outcome }: Pick<Hint, 'outcome'>): { readonly tone: StateTone; readonly word: string } {
  if (outcome === 'dismissed') return { tone: 'absent', word: 'Not confirmed' }
  if (outcome === 'cut') return { tone: 'absent', word: 'Cut off: Sonde stopped' }
  return { tone: 'ok', word: 'Ended' }
}

/** The condition of a hint and its duration. For an ended hint or a past window, the time at which it held. */
export function hintWords(hint: Hint, moment: SpokenMoment): string {
  const { title, sinceMs } = hint
  const { toMs, nowMs, tense } = moment
  if (holdsNow(hint, moment)) return `${title}, for ${formatAge(nowMs - sinceMs)}`
  if (toMs !== undefined) {
    const endMs = spanOfHint(hint, toMs).toMs
    const clock = (timeMs: number) => clockNear(timeMs, toMs, moment)
    const times = endMs === undefined ? `From ${clock(sinceMs)} on` : `From ${clock(sinceMs)} to ${clock(endMs)}`
    return `${times}: ${title}`
  }
  if (tense === 'past' && spanOfHint(hint).toMs === undefined)
    return `Last known: ${title}, for ${formatAge(nowMs - sinceMs)}`
  return `At ${clockNear(hint.seenMs, nowMs, moment)}: ${title}`
}

/** The numbers of a hint as a sentence. Old numbers include their time. */
export function hintFacts(hint: Hint, moment: SpokenMoment): string {
  const sentence = /[.!?]$/.test(hint.sentence) ? hint.sentence : `${hint.sentence}.`
  if (holdsNow(hint, moment)) return sentence
  return `At ${clockNear(hint.measuredMs, moment.toMs ?? moment.nowMs, moment)}: ${sentence}`
}

/** A time of day with its zone, and with the day if it differs from the day of the moment. */
function clockNear(timeMs: number, nearMs: number, { zone }: Pick<SpokenMoment, 'zone'>): string {
  const whole = formatDateTime(timeMs, zone)
  const day = formatDateTime(nearMs, zone).slice(0, 10)
  return `${whole.startsWith(day) ? whole.slice(11) : whole} ${zoneName(zone, timeMs)}`
}

/** Short texts of rules for tiles. Other rules use their title. */
const SHORT_WORDS: ReadonlyMap<string, string> = new Map([
  ['retransmission_storm', 'losing packets'],
  ['pfc_source', 'pauses its peers'],
  ['pfc_victim', 'told to pause'],
  ['pfc_priority', 'RDMA without PFC'],
  ['congestion', 'congested'],
  ['link_ber', 'rising bit errors'],
  ['link_flap', 'link goes down'],
  ['driver_stuck', 'driver is silent'],
  ['noisy_neighbour', 'traffic of others'],
  ['pcie_downtrain', 'slow PCIe link'],
  ['pcie_aer', 'PCIe errors'],
  ['ecc_uncorrected', 'memory errors'],
  ['ecc_corrected', 'memory corrected'],
  ['ecc_pending', 'memory row bad'],
  ['gpu_lost', 'lost'],
  ['gpu_error', 'tells an error'],
  ['thermal_throttle', 'slowed by heat'],
  ['gpu_hot', 'hot'],
  ['power_cap', 'power limited'],
  ['power_brake', 'power brake'],
  ['straggler', 'others wait for it'],
])

/** The title of a hint without the name of its device: `losing packets` of `NIC 3 is losing packets`. */
export function tileWordsOf({ rule, title }: Pick<Hint, 'rule' | 'title'>, device: string): string {
  const short = SHORT_WORDS.get(rule)
  if (short !== undefined) return short
  return title.startsWith(`${device} `) ? title.slice(device.length + 1).replace(/^is /, '') : title
}

/** Id of a whole node: the node of the agent, the simulated node, or a node whose exporter the agent scrapes. */
const NODE_ID = /^(?:sim-)?node(?:@(.+))?$/

/** The subject of a hint without a known device: a node, or the id of a departed device. */
export function placeWords({ device }: Pick<Hint, 'device'>): string {
  const node = NODE_ID.exec(device)
  if (node === null) return device
  return node[1] === undefined ? 'the node' : `the node ${node[1]}`
}

/**
 * The worst hint of each device, from a list sorted worst first. A hint about the whole node counts for the devices in
 * its evidence, except for notices.
 */
export function worstByDevice(hints: readonly Hint[]): ReadonlyMap<string, Hint> {
  const worst = new Map<string, Hint>()
  for (const hint of hints) {
    const isOfNode = NODE_ID.test(hint.device) && hint.severity !== 'notice'
    for (const id of [hint.device, ...(isOfNode ? hint.affected : [])]) if (!worst.has(id)) worst.set(id, hint)
  }
  return worst
}
