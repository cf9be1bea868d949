import type { SourceAnswer } from '@sonde/sdk/api'
import type { Fact } from '../../components/facts.tsx'
import type { HeadlineText } from '../../components/headline.tsx'
import { ABSENT, countText, groupThousands } from '../../format/number.ts'
import { formatDuration } from '../../format/time.ts'
import { asSentence, be, type Tense } from '../../format/words.ts'
import { droppedCount, sourceState, stateWords, targetWords } from '../source-words.ts'
import { listed } from '../sources/listed.ts'

/** A sentence on the state of a source. */
export function sourceHeadline(source: SourceAnswer, tense: Tense = 'present'): HeadlineText {
  const { name, state, reason, found, errors, stuck, intervalMs, periods } = source
  const { tone } = sourceState(state)
  const subject = `${name} ${be(1, tense)}`
  const dropped = droppedCount(source)
  const trouble = [
    errors > 0 ? countText(errors, 'failed read') : '',
    stuckWords(stuck),
    targetWords(source),
    dropped > 0 ? `${countText(dropped, 'record')} lost` : '',
  ].filter(Boolean)
  if (state === 'reading') {
    const restarts = source.restarts > 0 ? `, with ${countText(source.restarts, 'restart')}` : ''
    const place = PLACES[source.host] ?? `in the process of ${source.host}`
    const every = `Read every ${formatDuration(intervalMs)}, ${place}${restarts}.${periodWords(periods)}`
    const read = found === '' ? `${subject} reading` : `${subject} reading: ${found}`
    if (trouble.length === 0)
      return { tone: 'calm', sentence: read, facts: `${every} No read failed, nothing was lost.` }
    const fix = stuck[0] === undefined ? '' : ` ${asSentence(stuck[0].fix)}`
    return { tone: 'warning', sentence: `${subject} reading, with ${trouble.join(' and ')}`, facts: `${every}${fix}` }
  }
  const calm = tone === 'absent' || tone === 'info'
  return {
    tone: calm ? 'calm' : tone === 'critical' ? 'critical' : 'warning',
    sentence: stateWords(source, tense),
    facts: [asSentence(reason), ...trouble.map(asSentence)].filter(Boolean).join(' '),
  }
}

/** Hanging calls in words; empty if there are none. */
function stuckWords(stuck: SourceAnswer['stuck']): string {
  if (stuck.length === 0) return ''
  const names = stuck.slice(0, NAMED_COUNT).map(({ device, duty }) => `${device} ${duty}`.trim())
  const more = stuck.length - names.length
  return `${countText(stuck.length, 'stuck call')}: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Most types and devices named with their period. */
const NAMED_COUNT = 3

/** Sentences on the types and devices with a separate period. */
function periodWords(periods: SourceAnswer['periods']): string {
  const own = periods.filter(({ type, device }) => type !== '' || device !== '')
  const alike = Map.groupBy(own, ({ sampleUs, reportUs }) => {
    const sampled = sampleUs === null ? '' : `, sampled every ${formatDuration(sampleUs / 1000)}`
    return `every ${formatDuration(reportUs / 1000)}${sampled}`
  })
  return [...alike]
    .map(([how, of]) => {
      const names = of.map(({ type, device }) => [type, device].filter(Boolean).join(' of '))
      return ` ${listed(names, NAMED_COUNT)} ${of.length === 1 ? 'comes' : 'come'} ${how}.`
    })
    .join('')
}

/** The facts of a source: period, cost and failures. */
export function sourceFacts(source: SourceAnswer): Fact[] {
  const { intervalMs, intervalRealMs, sampleMsP99, sampleSeconds, samples, records, errors, failures } = source
  const dropped = droppedCount(source)
  const meanMs = samples === 0 ? Number.NaN : (sampleSeconds * 1000) / samples
  return [
    {
      label: 'Read every',
      ...parted(intervalMs),
      caption: intervalRealMs === null ? 'as configured' : `really ${formatDuration(intervalRealMs)}`,
    },
    {
      label: 'A sweep takes',
      ...parted(meanMs),
      caption: sampleMsP99 === null ? 'no sweep yet' : `mean; 99 % below ${formatDuration(sampleMsP99)}`,
    },
    {
      label: 'Records',
      value: groupThousands(String(records)),
      caption: `of ${countText(samples, 'sample')}`,
    },
    {
      label: 'Failed reads',
      value: groupThousands(String(errors)),
      caption: errors === 0 ? 'since the start' : `in ${countText(failures.length, 'place')}`,
      ...(errors > 0 ? { tone: 'warning' as const } : {}),
    },
    {
      label: 'Lost',
      value: groupThousands(String(dropped)),
      caption: dropped === 0 ? 'records' : lossWords(source),
      ...(dropped > 0 ? { tone: 'warning' as const } : {}),
    },
    {
      label: 'Skipped',
      value: groupThousands(String(source.overruns)),
      caption: 'samples, too busy',
      ...(source.overruns > 0 ? { tone: 'warning' as const } : {}),
    },
  ]
}

/** Where a source runs, in words. */
const PLACES: Readonly<Record<string, string>> = {
  agent: 'on the main loop',
  worker: 'in a worker of its own',
}

function parted(durationMs: number): Pick<Fact, 'value' | 'unit'> {
  if (Number.isNaN(durationMs)) return { value: ABSENT }
  const text = formatDuration(durationMs)
  const at = text.lastIndexOf('\u00a0')
  return text.indexOf('\u00a0') === at ? { value: text.slice(0, at), unit: text.slice(at + 1) } : { value: text }
}

function lossWords({ dropped }: SourceAnswer): string {
  return Object.entries(dropped)
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => `${groupThousands(String(count))} ${reason.replaceAll('_', ' ')}`)
    .join(', ')
}
