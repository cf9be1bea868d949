import type { EventAnswer } from '@sonde/sdk/api'
import { groupThousands } from '../../format/number.ts'

const KIND_WORDS: ReadonlyMap<string, string> = new Map([
  ['pci', 'PCIe'],
  ['nic', 'NIC'],
  ['netdev', 'Network interface'],
  ['gpu', 'GPU'],
  ['host', 'Host'],
  ['node', 'Node'],
  ['cpu', 'CPU'],
  ['disk', 'Disk'],
])

/**
 * Choices of kinds with their signal counts, the most frequent first. The chosen kind is always listed. Signals of
 * unknown kind can only be found by name.
 */
export function kindOptions(kinds: EventAnswer['kinds'], chosen: string): readonly (readonly [string, string])[] {
  const known = kinds.filter(({ kind }) => kind !== '')
  const options = known.map(({ kind, lanes }) => [kind, `${wordOf(kind)}, ${groupThousands(String(lanes))}`] as const)
  if (chosen === '' || known.some(({ kind }) => kind === chosen)) return options
  return [[chosen, `${wordOf(chosen)}, 0`], ...options]
}

/** Applications may name their own kinds in any spelling. */
function wordOf(kind: string): string {
  return KIND_WORDS.get(kind) ?? kind.replaceAll('_', ' ')
}
