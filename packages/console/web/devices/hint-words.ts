import type { Hint } from '../api/hints.ts'
import type { StateTone } from '../components/state-mark.tsx'
import { formatAge } from '../format/time.ts'
import type { Tense } from '../format/words.ts'

/** Icon and word of a hint: one that is not sure yet is told, and not marked as trouble. */
export function hintState({ stage, severity }: Pick<Hint, 'stage' | 'severity'>): {
  readonly tone: StateTone & ('critical' | 'warning' | 'info')
  readonly word: string
} {
  if (stage === 'forming') return { tone: 'info', word: 'Forming' }
  if (severity === 'notice') return { tone: 'info', word: 'Notice' }
  return { tone: severity, word: severity === 'critical' ? 'Critical' : 'Warning' }
}

/** What a rule sees and for how long. Its title is of the moment it was told at: of the past it is said so. */
export function hintWords({ title, sinceMs }: Hint, nowMs: number, tense: Tense): string {
  return `${tense === 'past' ? 'Last known: ' : ''}${title}, for ${formatAge(nowMs - sinceMs)}`
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

/** The worst hint of each device; the list is worst first. */
export function worstByDevice(hints: readonly Hint[]): ReadonlyMap<string, Hint> {
  const worst = new Map<string, Hint>()
  for (const hint of hints) if (!worst.has(hint.device)) worst.set(hint.device, hint)
  return worst
}
