import type { ListedNode, NodesAnswer } from '@sonde/sdk/api'
import type { HeadlineText } from '../../components/headline.tsx'
import { countText } from '../../format/number.ts'

/** The sentence about all nodes. */
export function nodesHeadline({ nodes }: NodesAnswer): HeadlineText {
  const lost = nodes.filter(({ state }) => state === 'unreachable' || state === 'refused')
  const hintCount = nodes.reduce((sum, { hintCount: count }) => sum + (count ?? 0), 0)
  const facts = [hintCount > 0 && countText(hintCount, 'hint'), differenceWords(nodes)].filter(Boolean).join(' · ')
  return { tone: toneOf(nodes, lost), sentence: sentenceOf(nodes, lost), facts }
}

function toneOf(nodes: readonly ListedNode[], lost: readonly ListedNode[]): HeadlineText['tone'] {
  if (lost.length > 0 || nodes.some(({ severity }) => severity === 'critical')) return 'critical'
  if (nodes.length === 0 || nodes.some(({ severity }) => severity === 'warning')) return 'warning'
  return 'calm'
}

function sentenceOf(nodes: readonly ListedNode[], lost: readonly ListedNode[]): string {
  const [first] = lost
  if (nodes.length === 0) return 'This console has found no node.'
  if (first === undefined) {
    const waitsFor = nodes.filter(({ state }) => state === 'asking').length
    if (waitsFor > 0) return `${countText(waitsFor, 'node')} of ${nodes.length} not heard yet.`
    return nodes.length === 1 ? 'The node answers.' : `All ${nodes.length} nodes answer.`
  }
  const others = lost.length > 1 ? ` and ${countText(lost.length - 1, 'other')}` : ''
  return `${lost.length} of ${countText(nodes.length, 'node')} cannot be asked: ${first.name}${others}.`
}

/** The parts whose versions differ between nodes. */
function differenceWords(nodes: readonly ListedNode[]): string {
  const odd = nodes.flatMap(({ versions }) => versions.filter(({ standing }) => standing !== 'common'))
  const parts = new Set(odd.map(({ of, about }) => (about === '' ? of : `${of} of ${about}`)))
  return parts.size === 0 ? '' : `versions differ: ${[...parts].join(', ')}`
}
