import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property } from '../../../test/helper.ts'
import { BatchSource, ODD_RECORD, oddType, portType } from '../../../test/sink-records.ts'
import { encodeTextLines, TEXT_FORMATS, type TextFormat, type TextOptions } from './encode.ts'

const OPTIONS: TextOptions = { format: 'plain', layout: 'flb_std', tag: 'sonde', template: '' }
const TIME = 1_800_000_000_000_001_123n
const HEAD = '"timestamp":1800000000000001,"type":"events","type_name":"conformance_port","source":"nic"'
const REST = '"rack":"a,\\"b","device":"eth0","rx_bytes_total":18446744073709551615'

function ports(format: TextFormat, more: Partial<TextOptions> = {}): string {
  const source = new BatchSource({ id: 'nic', tag: 'rdma', labels: { rack: 'a,"b' } })
  const batch = source.batch(portType, [{ time: TIME, device: 'eth0', rx_bytes_total: 2n ** 64n - 1n }])
  return encodeTextLines([batch], { ...OPTIONS, format, ...more })
}

test('golden lines of each format', () => {
  assert.equal(ports('plain'), `{${HEAD},${REST}}\n`)
  assert.equal(ports('plain', { layout: 'custom' }), `{${HEAD},"values":{${REST}}}\n`)
  assert.equal(ports('json_lines'), `{"date":1800000000.000001123,${HEAD},${REST}}\n`)
  assert.equal(ports('out_file', { tag: 'telemetry' }), `telemetry: [1800000000.000001123, {${HEAD},${REST}}]\n`)
  assert.equal(
    ports('csv'),
    '1800000000.000001123,1800000000000001,"events","conformance_port","nic","a,""b","eth0",18446744073709551615\n',
  )
  assert.equal(
    ports('ltsv'),
    `"time":1800000000.000001123\t${HEAD.replaceAll(',"', '\t"')}\t"rack":"a,\\"b"\t"device":"eth0"\t"rx_bytes_total":18446744073709551615\n`,
  )
  const template = '{time} {device} rx={rx_bytes_total} {unknown} {'
  assert.equal(ports('template', { template }), '1800000000.000001123 eth0 rx=18446744073709551615 {unknown} {\n')
})

test('a text is no formula in a spreadsheet that reads the csv; a number is unchanged', () => {
  const source = new BatchSource({ id: 'nic', tag: 'rdma', labels: { rack: '=HYPERLINK("http://a")' } })
  const batch = source.batch(portType, [{ time: TIME, device: '@a', rx_bytes_total: 1n }])
  assert.match(encodeTextLines([batch], { ...OPTIONS, format: 'csv' }), /,"'=HYPERLINK\(""http:\/\/a""\)","'@a",1\n$/)
})

test('every kind of field', () => {
  const batch = new BatchSource({ id: 'app' }).batch(oddType, [ODD_RECORD])
  assert.equal(
    encodeTextLines([batch], OPTIONS),
    '{"timestamp":1800000000000000,"type":"counters","type_name":"conformance.odd-type:1","source":"app","flag":true,' +
      '"part":"µ\\n\\"\\\\","small":-128,"wide":[0,18446744073709551615,1],"signed":-9223372036854775808,"real":null,' +
      '"note":"a\\u0000b \ufffd","wait":[0,4294967295,0,1]}\n',
  )
})

property('a record is one line in every format, whatever its texts are', 100, (random) => {
  const any = () =>
    Array.from({ length: 8 }, () => random.pick(['\n', '\r', '"', '\\', ',', '\t', 'é', '\ud800'])).join('')
  const records = Array.from({ length: 4 }, () => ({ ...ODD_RECORD, note: any() }))
  const batch = new BatchSource({ labels: { rack: any() } }).batch(oddType, records)
  for (const format of TEXT_FORMATS) {
    const text = encodeTextLines([batch], { ...OPTIONS, format, template: '{note} {wait} {rack}' })
    assert.equal(text.split(/[\n\r]/).length, 5, format)
  }
})
