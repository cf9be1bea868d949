import type { HeadlineText } from '../../components/headline.tsx'
import { countText, formatQuantity } from '../../format/number.ts'
import { PERCENT } from '../../format/quantity.ts'
import { be, type Tense } from '../../format/words.ts'

import { hostFindings, type NodeFacts } from '../node/headline.ts'
import { filesystemState } from './filesystem-state.ts'
import { type FilesystemRow, scarce } from './host-rows.ts'

/** The headline of the host: what is short, or that nothing is. */
export function hostHeadline(
  facts: NodeFacts,
  filesystems: readonly FilesystemRow[],
  tense: Tense = 'present',
): HeadlineText {
  const full = filesystems.filter((row) => ['warning', 'critical'].includes(filesystemState(row).tone))
  const findings = hostFindings(facts, tense)
  const busy = Number.isNaN(facts.busy) ? '' : `Processors ${formatQuantity(PERCENT, facts.busy)} busy.`
  const free = Number.isNaN(facts.memoryAvailable)
    ? ''
    : `${formatQuantity(PERCENT, facts.memoryAvailable)} of memory available.`
  const context = [busy, free].filter(Boolean).join(' ')
  const [first] = full
  if (first) {
    const more = full.length + findings.length - 1
    const { tone, word } = filesystemState(first)
    return {
      tone: tone === 'critical' ? 'critical' : 'warning',
      sentence: `${word} on ${first.mountpoint}: ${leftWords(first, tense)}`,
      facts: `${context}${more > 0 ? ` And ${more} more.` : ''}`,
    }
  }
  const [worst] = findings
  if (worst) return { tone: worst.tone, sentence: worst.sentence, facts: context }
  const room = filesystems.length === 0 ? '' : `${countText(filesystems.length, 'file system')} with room; `
  return { tone: 'calm', sentence: `${room}memory and processors ${be(2, tense)} not short.`, facts: context }
}

function leftWords(row: FilesystemRow, tense: Tense): string {
  return scarce(row) === 'files'
    ? `${formatQuantity(PERCENT, row.filesFreeShare)} of its files ${be(2, tense)} free`
    : `${formatQuantity(PERCENT, row.availableShare)} of its size ${be(1, tense)} available`
}
