import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property } from '../../../test/helper.ts'
import { BatchSource, ODD_RECORD, oddType, portType } from '../../../test/sink-records.ts'
import { isoTime } from '../record-time.ts'
import { type BulkOptions, encodeBulk } from './encode.ts'

const OPTIONS: BulkOptions = { host: 'node-1', indexOf: () => 'sonde', hasUnsigned: false, hasId: false }
const TIME = 1_800_000_000_000_000_123n

const linesOf = (body: string) => body.split('\n').map((line) => (line === '' ? '' : JSON.parse(line)))

test('golden documents', () => {
  const source = new BatchSource({ id: 'nic', tag: 'rdma', labels: { rack: 'r1' } })
  const ports = source.batch(portType, [
    { time: TIME, device: 'eth0', rx_bytes_total: 2n ** 63n - 1n },
    { time: TIME, device: 'eth1', rx_bytes_total: 2n ** 63n, speed_bytes_per_second: 1 },
  ])
  const start =
    '{"@timestamp":"2027-01-15T08:00:00.000000123Z","type_name":"conformance_port","host":"node-1",' +
    '"source":"nic","source_tag":"rdma","rack":"r1"'
  assert.equal(
    encodeBulk([ports], OPTIONS),
    '{"create":{"_index":"sonde"}}\n' +
      `${start},"device":"eth0","rx_bytes_total":9223372036854775807}\n` +
      '{"create":{"_index":"sonde"}}\n' +
      `${start},"device":"eth1","speed_bytes_per_second":1,"left_out":"rx_bytes_total=9223372036854775808"}\n`,
  )
  const [, , , whole] = encodeBulk([ports], { ...OPTIONS, hasUnsigned: true }).split('\n')
  assert.match(whole ?? '', /"rx_bytes_total":9223372036854775808,/)
})

test('an id follows from the content; index and mapping type are as asked', () => {
  const source = new BatchSource({ id: 'nic' })
  const record = { time: TIME, device: 'eth0', rx_bytes_total: 1 }
  const batch = source.batch(portType, [record, record, { ...record, device: 'eth1' }])
  const options = {
    ...OPTIONS,
    hasId: true,
    mappingType: '_doc',
    indexOf: (ns: bigint) => `i-${isoTime(ns).slice(0, 10)}`,
  }
  const [first, , second, , third] = linesOf(encodeBulk([batch], options))
  assert.deepEqual(first, { create: { _index: 'i-2027-01-15', _type: '_doc', _id: first.create._id } })
  assert.equal(first.create._id, second.create._id)
  assert.notEqual(first.create._id, third.create._id)
})

property('two lines a record, each JSON, whatever the texts are', 100, (random) => {
  const any = () => Array.from({ length: 8 }, () => random.pick(['\n', '"', '\\', '\u2028', 'é', '\ud800'])).join('')
  const records = Array.from({ length: 4 }, () => ({ ...ODD_RECORD, note: any() }))
  const batch = new BatchSource({ labels: { rack: any() } }).batch(oddType, records)
  const lines = linesOf(encodeBulk([batch], OPTIONS))
  assert.equal(lines.length, 9)
  for (const [i, { note }] of records.entries()) {
    const document = lines[i * 2 + 1]
    assert.equal(document.note, note.toWellFormed())
    assert.equal(document.left_out, 'wide.1=18446744073709551615,real=NaN')
    assert.deepEqual(document.wide, [0, null, 1])
  }
})

test('times with nine decimals; a time that no year has is the last of year 9999', () => {
  assert.equal(isoTime(1n), '1970-01-01T00:00:00.000000001Z')
  assert.equal(isoTime(2n ** 64n - 1n), '2554-07-21T23:34:33.709551615Z')
  assert.equal(isoTime(2n ** 64n * 1000n).slice(0, 19), '9999-12-31T23:59:59')
})
