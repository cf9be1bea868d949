import type { ChainDevice, Finding } from '../sources/chains/chain.ts'
import { broken } from '../sources/chains/chain.ts'
import { holderWords } from '../sources/scraping/disputes.ts'
import type { SourceFacts } from './agent-facts.ts'

type Target = NonNullable<SourceFacts['targets']>[number]

/** Most targets, or disputes, in one answer. */
const TOLD_LIMIT = 3

/**
 * Faults of the targets of a reading source: targets that are not read, and disputes over devices of another source.
 * With `device`, only the disputes about that device. Undefined if there is no fault.
 */
export function targetFinding(
  { name, targets = [] }: SourceFacts,
  place: string,
  device?: ChainDevice,
): Finding | undefined {
  const disputes = disputeWords(targets, device === undefined ? 'all' : (device.claims ?? []))
  const ill = device === undefined ? targets.filter(({ state }) => state === 'failed' || state === 'stopped') : []
  if (ill.length === 0 && disputes.length === 0) return undefined
  const read = targets.length - ill.length
  const illWords = ill.length === 0 ? [] : [`${read} of ${targets.length} are read`, ...cut(ill.map(targetFault))]
  const isStopped = ill.some(({ state }) => state === 'stopped')
  const fixes = [
    ill.length > 0 ? `check the target in the reason; ${name} retries by itself` : '',
    isStopped ? `if the answer is correct, raise max_cpu_ms of ${name}` : '',
    disputes.length > 0
      ? `find out which of the two is the exporter of that node, and remove the other from ${name}`
      : '',
  ]
  return broken(place, ['reading', ...illWords, ...cut(disputes)].join('; '), fixes.filter(Boolean).join('; '))
}

function targetFault({ state, reason }: Target): string {
  return `${state}: ${reason}`
}

function disputeWords(targets: readonly Target[], claims: readonly string[] | 'all'): string[] {
  return targets.flatMap(({ target, disputes }) =>
    disputes
      .filter(({ subject, key }) => claims === 'all' || claims.includes(subject) || claims.includes(key))
      .map((dispute) => `${target} reports ${dispute.subject}, which is refused: ${holderWords(dispute)}`),
  )
}

function cut(words: readonly string[]): string[] {
  const more = words.length - TOLD_LIMIT
  return [...words.slice(0, TOLD_LIMIT), ...(more > 0 ? [`and ${more} more`] : [])]
}
