import type { ListedSink, ListedSource, SourcesAnswer } from '@sonde/sdk/api'
import type { HeadlineText } from '../../components/headline.tsx'
import { countText, groupThousands } from '../../format/number.ts'
import { asSentence, be, type Tense } from '../../format/words.ts'
import { droppedCount, sourceState, stateWords } from '../source-words.ts'

/** A sentence on the sources, the worst problem first. */
export function sourcesHeadline({ sources, sinks, ledger }: SourcesAnswer, tense: Tense = 'present'): HeadlineText {
  const counts = countStates(sources)
  const worst = [...sources].sort((a, b) => sourceState(a.state).rank - sourceState(b.state).rank)[0]
  const balance =
    ledger.in === ledger.out + ledger.dropped
      ? `The ledger ${tense === 'past' ? 'added' : 'adds'} up.`
      : `The ledger ${tense === 'past' ? 'did' : 'does'} not add up yet.`
  const facts = `${groupThousands(String(ledger.in))} records in, ${groupThousands(String(ledger.out))} out, ${groupThousands(String(ledger.dropped))} dropped. ${balance}`
  if (!worst) return { tone: 'calm', sentence: `No source ${be(1, tense)} configured`, facts }
  const { tone } = sourceState(worst.state)
  if (tone === 'critical' || tone === 'denied') {
    return {
      tone: tone === 'denied' ? 'warning' : 'critical',
      sentence: stateWords(worst, tense),
      facts: `${asSentence(worst.reason)} ${counts}`,
    }
  }
  const failing = sinks.filter((sink) => sink.failing !== '')
  if (failing.length > 0) {
    return {
      tone: 'warning',
      sentence: `${failing.map(({ name }) => name).join(', ')} ${be(failing.length, tense)} failing`,
      facts: failing.map((sink) => failureOf(sink, failing.length > 1)).join(' '),
    }
  }
  const losing = sources.filter((source) => droppedCount(source) > 0)
  if (losing.length > 0) {
    return {
      tone: 'warning',
      sentence: `${losing.map(({ name }) => name).join(', ')} lost records`,
      facts: `${facts} ${counts}`,
    }
  }
  return { tone: 'calm', sentence: counts.replace(/\.$/, ''), facts }
}

/** The far end's words and the sink's own ledger: that of all sources says nothing about one sink. */
function failureOf(sink: ListedSink, isNamed: boolean): string {
  const dropped = droppedCount(sink)
  const waiting = Math.max(0, sink.in - sink.out - dropped)
  const counts = [
    `${countText(sink.in, 'record')} in`,
    `${groupThousands(String(sink.out))} out`,
    `${groupThousands(String(waiting))} waiting`,
    `${groupThousands(String(dropped))} dropped`,
  ]
  const words = isNamed ? `${sink.name}: ${sink.failing}` : sink.failing
  return `${asSentence(words)} ${counts.join(', ')}.`
}

function countStates(sources: readonly ListedSource[]): string {
  const order = ['reading', 'starting', 'absent', 'denied', 'starved', 'stuck', 'failed'] as const
  const parts = order.flatMap((state) => {
    const count = sources.filter((source) => source.state === state).length
    if (state === 'reading') return [`${countText(count, 'source')} reading`]
    return count > 0 ? [`${groupThousands(String(count))} ${sourceState(state).word.toLowerCase()}`] : []
  })
  return `${parts.join(', ')}.`
}
