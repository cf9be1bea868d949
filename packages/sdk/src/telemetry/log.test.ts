import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordingSource, sondeError } from '../../test/helper.ts'
import { encodeLines } from '../sinks/jsonl/encode.ts'
import { createPrometheus } from '../sinks/prometheus/prometheus.ts'
import { type LogRecord, reportLog } from './log.ts'

const NOW = 1_800_000_000_000_000_000n
const TRACE = { traceId: '5B8EFFF798038103D269B633813FC60C', spanId: 'eee19b7ec3c1b174' }

test('a log record has severity, body, attributes and ids; JSON lines show its attributes as an object', () => {
  const { source, emitted } = recordingSource()
  reportLog(source, {
    level: 'error',
    body: 'lost a rank',
    attributes: { rank: 3, host: 'n1', fatal: true },
    ...TRACE,
    time: NOW,
  })
  reportLog(source, { body: '' })
  reportLog(source, { level: 24, body: 'x' })
  source.emit()
  const [batch] = emitted
  const [first, second, third] = batch?.records ?? []
  assert.deepEqual(first, {
    ...{ time: NOW, severity: 17, level: 'error', body: 'lost a rank' },
    ...{ attributes: '{"rank":3,"host":"n1","fatal":true}', dropped_attributes: 0 },
    ...{ trace_id: TRACE.traceId.toLowerCase(), span_id: TRACE.spanId },
  })
  assert.deepEqual([second?.severity, second?.level, second?.attributes], [9, 'info', ''])
  assert.deepEqual([third?.severity, third?.level], [24, 'fatal4'])
  const [line = ''] = encodeLines(batch === undefined ? [] : [batch]).split('\n')
  assert.deepEqual(JSON.parse(line).record.attributes, { rank: 3, host: 'n1', fatal: true })
})

test('attributes beyond the limits are left out and counted', () => {
  const { source, emitted } = recordingSource()
  const many = Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`a${i}`, i]))
  reportLog(source, { body: 'many', attributes: many })
  reportLog(source, { body: 'long', attributes: { a: 'x'.repeat(4090), b: 1 } })
  reportLog(source, { body: 'odd', attributes: { '"': '\ud800', big: 2n ** 63n, small: 5n, none: Number.NaN } })
  source.emit()
  const records = emitted.flatMap((batch) => batch.records)
  assert.deepEqual(
    records.map(({ dropped_attributes: dropped }) => dropped),
    [6, 1, 0],
  )
  assert.deepEqual(JSON.parse(String(records[1]?.attributes)), { b: 1 })
  const odd = { '"': '\ufffd', big: '9223372036854775808', small: 5, none: 'NaN' }
  assert.deepEqual(JSON.parse(String(records[2]?.attributes)), odd)
})

test('refuses what is no log record', () => {
  const { source } = recordingSource()
  const refused = (record: unknown, part: RegExp) =>
    assert.throws(() => reportLog(source, record as LogRecord), sondeError('LOG_VALUE', part))
  refused(undefined, /^a log record is undefined; allowed: an object with a body/)
  refused({ body: 5 }, /^body of a log record is 5; allowed: a text/)
  refused({ body: '', level: 'notice' }, /^level of a log record is "notice"; allowed: trace, debug, .*, or 1 to 24/)
  refused({ body: '', level: 25 }, /^level of a log record is 25/)
  refused({ body: '', traceId: '0'.repeat(32) }, /^traceId of a log record is .*; allowed: 32 hex digits, not all 0/)
  refused({ body: '', spanId: 'abc' }, /^spanId of a log record/)
  refused({ body: '', attributes: { a: {} } }, /^attribute "a" of a log record is an object; allowed: a text/)
  refused({ body: '', attributes: [1] }, /^attributes of a log record/)
})

test('a view of series has nothing of log records, and loses none', () => {
  const view = createPrometheus()
  const { source, emitted } = recordingSource()
  reportLog(source, { body: 'x' })
  source.emit()
  for (const batch of emitted) view.accept(batch)
  assert.deepEqual([view.stats.in, view.stats.out, view.stats.dropped.size], [1, 1, 0])
})
