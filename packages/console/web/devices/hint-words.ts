import { type Hint, spanOfHint } from '@sonde/sdk/api'
import type { StateTone } from '../components/state-mark.tsx'
import { formatAge, formatDateTime, type TimeZoneChoice, zoneName } from '../format/time.ts'
import type { Tense } from '../format/words.ts'

/** The moment that sentences speak of. Times in milliseconds since the Unix epoch. */
export interface SpokenMoment {
  /** Now, or when the server was heard last. */
  readonly nowMs: number
  /** Where the window ends that is shown; left out where the page speaks of now. */
  readonly toMs?: number | undefined
  readonly tense: Tense
  readonly zone: TimeZoneChoice
}

/** Whether a hint's rule still holds: then, and only then, its sentences are of the present. */
export function holdsNow(hint: Hint, { toMs, tense }: Pick<SpokenMoment, 'toMs' | 'tense'>): boolean {
  return toMs === undefined && tense === 'present' && spanOfHint(hint).toMs === undefined
}

/** Icon and word of a hint: one that is not sure yet, or holds no more, is told and not marked as trouble. */
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

/** What a hint is after its end: what was never confirmed did not end, and nobody saw the end of what was cut off. */
export function outcomeState({ outcome }: Pick<Hint, 'outcome'>): { readonly tone: StateTone; readonly word: string } {
  if (outcome === 'dismissed') return { tone: 'absent', word: 'Not confirmed' }
  if (outcome === 'cut') return { tone: 'absent', word: 'Cut off: Sonde stopped' }
  return { tone: 'ok', word: 'Ended' }
}

/** What a rule sees and for how long; of what holds no more, or is of a window that is over, when it did. */
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

/** The numbers of a hint as a sentence: those that are not of now bear their time. */
export function hintFacts(hint: Hint, moment: SpokenMoment): string {
  const sentence = /[.!?]$/.test(hint.sentence) ? hint.sentence : `${hint.sentence}.`
  if (holdsNow(hint, moment)) return sentence
  return `At ${clockNear(hint.measuredMs, moment.toMs ?? moment.nowMs, moment)}: ${sentence}`
}

/** A time of day with its zone, and with its day where that is another than the moment's. */
function clockNear(timeMs: number, nearMs: number, { zone }: Pick<SpokenMoment, 'zone'>): string {
  const whole = formatDateTime(timeMs, zone)
  const day = formatDateTime(nearMs, zone).slice(0, 10)
  return `${whole.startsWith(day) ? whole.slice(11) : whole} ${zoneName(zone, timeMs)}`
}

/** What rules see in as few words as a tile has room for. One that is not here speaks with its title. */
const SHORT_WORDS: ReadonlyMap<string, string> = new Map([
  ['retransmission_storm', 'losing packets'],
  ['pfc_source', 'pauses its peers'],
  ['pfc_victim', 'told to pause'],
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

/** What a hint says of its device, without its name: `losing packets` of `NIC 3 is losing packets`. */
export function tileWordsOf({ rule, title }: Pick<Hint, 'rule' | 'title'>, device: string): string {
  const short = SHORT_WORDS.get(rule)
  if (short !== undefined) return short
  return title.startsWith(`${device} `) ? title.slice(device.length + 1).replace(/^is /, '') : title
}

/** Id of a node as a whole: the agent's own, the simulated one, or another whose exporter the agent asks. */
const NODE_ID = /^(?:sim-)?node(?:@(.+))?$/

/** Where a hint is that is about no device that is known: a node, or the id of a device that left the list. */
export function placeWords({ device }: Pick<Hint, 'device'>): string {
  const node = NODE_ID.exec(device)
  if (node === null) return device
  return node[1] === undefined ? 'the node' : `the node ${node[1]}`
}

/**
 * The worst hint of each device; the list is worst first. What is about the node as a whole is about the devices on
 * which it shows, but for notices: none of them is in range.
 */
export function worstByDevice(hints: readonly Hint[]): ReadonlyMap<string, Hint> {
  const worst = new Map<string, Hint>()
  for (const hint of hints) {
    const isOfNode = NODE_ID.test(hint.device) && hint.severity !== 'notice'
    for (const id of [hint.device, ...(isOfNode ? hint.affected : [])]) if (!worst.has(id)) worst.set(id, hint)
  }
  return worst
}
