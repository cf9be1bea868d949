import type { ChainDevice, Finding } from '../sources/chains/chain.ts'
import { broken } from '../sources/chains/chain.ts'
import { holderWords } from '../sources/scraping/disputes.ts'
import type { SourceFacts } from './agent-facts.ts'

type Target = NonNullable<SourceFacts['targets']>[number]

/** Targets and disputes that are told. */
const TOLD_LIMIT = 3

/**
 * What is wrong with the targets of a source that reads: those that are not read, and those that tell of what another
 * has. Of a device, the disputes about it alone. Undefined if all is well.
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
  const illWords = ill.length === 0 ? [] : [`${read} of ${targets.length} are read`, ...cut(ill.map(illOf))]
  const isStopped = ill.some(({ state }) => state === 'stopped')
  const fixes = [
    ill.length > 0 ? `look at what the reason names; ${name} asks again by itself` : '',
    isStopped ? `where the answer is right as it is, raise max_cpu_ms of ${name}` : '',
    disputes.length > 0 ? `look which of the two is the exporter of that node, and give ${name} no other` : '',
  ]
  return broken(place, ['reading', ...illWords, ...cut(disputes)].join('; '), fixes.filter(Boolean).join('; '))
}

function illOf({ state, reason }: Target): string {
  return `${state}: ${reason}`
}

function disputeWords(targets: readonly Target[], claims: readonly string[] | 'all'): string[] {
  return targets.flatMap(({ target, disputes }) =>
    disputes
      .filter(({ subject, key }) => claims === 'all' || claims.includes(subject) || claims.includes(key))
      .map((dispute) => `${target} tells of ${dispute.subject}, which is not taken: ${holderWords(dispute)}`),
  )
}

function cut(words: readonly string[]): string[] {
  const more = words.length - TOLD_LIMIT
  return [...words.slice(0, TOLD_LIMIT), ...(more > 0 ? [`and ${more} more`] : [])]
}
