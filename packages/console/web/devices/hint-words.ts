import type { Hint } from '../api/hints.ts'
import type { StateTone } from '../components/state-mark.tsx'

/** Icon and word of a hint: one that is not sure yet is told, and not marked as trouble. */
export function hintState({ stage, severity }: Pick<Hint, 'stage' | 'severity'>): {
  readonly tone: StateTone & ('critical' | 'warning' | 'info')
  readonly word: string
} {
  if (stage === 'forming') return { tone: 'info', word: 'Forming' }
  if (severity === 'notice') return { tone: 'info', word: 'Notice' }
  return { tone: severity, word: severity === 'critical' ? 'Critical' : 'Warning' }
}

/** What a hint says of its device, without its name: `losing packets` of `NIC 3 is losing packets`. */
export function predicateOf(title: string, device: string): string {
  return title.startsWith(`${device} `) ? title.slice(device.length + 1).replace(/^is /, '') : title
}

/** The worst hint of each device; the list is worst first. */
export function worstByDevice(hints: readonly Hint[]): ReadonlyMap<string, Hint> {
  const worst = new Map<string, Hint>()
  for (const hint of hints) if (!worst.has(hint.device)) worst.set(hint.device, hint)
  return worst
}
