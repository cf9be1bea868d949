import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property } from '../../../test/helper.ts'
import { BatchSource, ODD_RECORD, oddType, portType } from '../../../test/sink-records.ts'
import { defineType, gauge, label } from '../../index.ts'
import { encodeInfluxLines } from './encode.ts'

const V1 = { host: 'node-1', hasUnsigned: false }
const V2 = { host: 'node-1', hasUnsigned: true }
const INT64_MAX = 2n ** 63n - 1n

test('golden lines for a server with and one without unsigned integers', () => {
  const source = new BatchSource({ id: 'nic', tag: 'rdma test', labels: { rack: 'r=1,a' } })
  const time = 1_800_000_000_000_000_123n
  const ports = source.batch(portType, [
    { time, device: 'eth 0', rx_bytes_total: INT64_MAX, speed_bytes_per_second: 25n },
    { time, device: '', rx_bytes_total: 2n ** 64n - 1n },
  ])
  const tags = 'host=node-1,source=nic,source_tag=rdma\\ test,rack=r\\=1\\,a'
  assert.equal(
    encodeInfluxLines([ports], V1),
    `conformance_port,${tags},device=eth\\ 0 rx_bytes_total=9223372036854775807i,speed_bytes_per_second=25i ${time}\n` +
      `conformance_port,${tags} left_out="rx_bytes_total=18446744073709551615" ${time}\n`,
  )
  assert.equal(
    encodeInfluxLines([ports], V2),
    `conformance_port,${tags},device=eth\\ 0 rx_bytes_total=9223372036854775807u,speed_bytes_per_second=25u ${time}\n` +
      `conformance_port,${tags} rx_bytes_total=18446744073709551615u ${time}\n`,
  )
})

test('every kind of field: microseconds become nanoseconds, NaN and great numbers are in left_out', () => {
  const batch = new BatchSource({ id: 'app' }).batch(oddType, [ODD_RECORD])
  assert.equal(
    encodeInfluxLines([batch], V1),
    'conformance.odd-type:1,host=node-1,source=app,part=µ\\n" ' +
      'flag=true,small=-128i,wide.0=0i,wide.2=1i,signed=-9223372036854775808i,note="a\u0000b \ufffd",' +
      'wait.0=0i,wait.1=4294967295i,wait.2=0i,wait.3=1i,left_out="wide.1=18446744073709551615,real=NaN" ' +
      '1800000000000000000\n',
  )
})

test('names that InfluxDB keeps get an underscore, and a record of only labels is there', () => {
  const type = defineType('odd', 'Reserved names', { time: label(), left_out: gauge('u8') })
  const only = defineType('only', 'Nothing but a label', { name: label() })
  const source = new BatchSource({ id: 'a' })
  const odd = encodeInfluxLines([source.batch(type, [{ time: 'x', left_out: 3 }])], V1)
  assert.match(odd, /^odd,host=node-1,source=a,time_=x left_out_=3i \d{19}\n$/)
  const alone = encodeInfluxLines([source.batch(only, [{ name: 'x' }, { name: 'x' }])], V1)
  const times = alone
    .trimEnd()
    .split('\n')
    .map((line) => /^only,host=node-1,source=a,name=x left_out="" (\d{19})$/.exec(line)?.[1])
  assert.equal(BigInt(times[1] ?? 0) - BigInt(times[0] ?? 0), 1n)
})

property('a text of any characters stays in its line', 300, (random) => {
  const characters = ['\n', '\r', '\\', '"', ',', '=', ' ', '\t', 'a', 'µ', '#', '\ud800', '\u0000']
  const any = () => Array.from({ length: random.integer(0, 12) }, () => random.pick(characters)).join('')
  const source = new BatchSource({ id: 'x', labels: { rack: any() } })
  const records = Array.from({ length: 3 }, () => ({
    ...ODD_RECORD,
    part: any().replaceAll('\u0000', '').slice(0, 2),
    note: any(),
  }))
  const text = encodeInfluxLines([source.batch(oddType, records)], V1)
  const lines = text.split(' 1800000000000000000\n')
  assert.equal(lines.pop(), '')
  assert.equal(lines.length, 3)
  for (const line of lines) {
    const at = line.indexOf(' flag=true,small=-128i,')
    assert.doesNotMatch(line.slice(0, at), /[\n\r\t]|\\$|(?<!\\) /)
    assert.match(line.slice(at), /,note="(?:[^"\\]|\\.)*",wait/s)
  }
})
