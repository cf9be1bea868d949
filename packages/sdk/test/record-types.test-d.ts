// Type tests: compiled by `npm run check`, never run. Each `@ts-expect-error` fails the check when the line below it
// compiles.

import {
  array,
  buckets,
  chars,
  counter,
  defineType,
  gauge,
  label,
  labelNumber,
  nested,
  optional,
  type RecordOf,
  readRecords,
  type Source,
  text,
  timestamp,
  value,
  viewsOf,
} from '@sonde/sdk'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Compiles only for `true`. */
function holds<_Condition extends true>(): void {
  // The type parameter is the test.
}

declare const source: Source

const port = defineType('port', 'Counters of a port', {
  time: timestamp(),
  device: label(),
  index: labelNumber('u8'),
  part: chars(16),
  up: gauge('bool'),
  rx: counter('u64'),
  speed: optional(gauge('f64')),
  lanes: array(gauge('i16'), 4),
  words: optional(array(value('u64'), 2)),
  wait: buckets('u32', [1, 2, 3]),
  note: optional(text()),
})
type Port = RecordOf<typeof port>

holds<Equal<Port['time'], number | bigint>>()
holds<Equal<Port['device'], string>>()
holds<Equal<Port['up'], boolean>>()
holds<Equal<Port['speed'], number | undefined>>()
holds<Equal<Port['lanes'], readonly number[]>>()
holds<Equal<Port['words'], readonly (number | bigint)[] | undefined>>()
holds<Equal<Port['wait'], readonly number[]>>()

const record: Port = {
  time: 0n,
  device: 'eth0',
  index: 1,
  part: 'A',
  up: true,
  rx: 1,
  lanes: [1, 2, 3, 4],
  wait: [0, 0, 0, 0],
}

source.report(port, record)
source.report(port, { ...record, rx: 2n ** 60n, speed: 1.5, note: undefined })
source.report(port, [record])

// @ts-expect-error no such field
source.report(port, { ...record, rxx: 1 })
// @ts-expect-error a field is missing
source.report(port, { time: 0n, device: 'eth0' })
// @ts-expect-error text where a counter is
source.report(port, { ...record, rx: '1' })
// @ts-expect-error a number where text is
source.report(port, { ...record, device: 1 })
// @ts-expect-error a bigint where a number is exact
source.report(port, { ...record, index: 1n })
// @ts-expect-error a number where a bool is
source.report(port, { ...record, up: 1 })
// @ts-expect-error a scalar where an array is
source.report(port, { ...record, lanes: 1 })
// @ts-expect-error null is not absent
source.report(port, { ...record, speed: null })
// @ts-expect-error undefined only if a field is optional
source.report(port, { ...record, rx: undefined })
// @ts-expect-error a wrong record among many
source.report(port, [record, { ...record, device: 2 }])

for (const read of readRecords(port, viewsOf(new Uint8Array()), 0, source.symbols)) {
  holds<Equal<typeof read, Port>>()
}

// @ts-expect-error labels are text
source.bind(port, { device: 1 })
// @ts-expect-error handles write numbers
source.bind(port, {}).gauge('speed').set('1')

// @ts-expect-error no such kind
counter('u128')
// @ts-expect-error text does not count
counter('symbol')
// @ts-expect-error a bool does not only rise
counter('bool')
// @ts-expect-error a label's number is small and unsigned
labelNumber('f64')
// @ts-expect-error text has no arrays
array(label(), 2)
// @ts-expect-error an array has no arrays
array(array(value('u8'), 2), 2)
// @ts-expect-error an array is optional as a whole
array(optional(value('u8')), 2)
// @ts-expect-error a record type is not changed
port.name = 'other'

const link = defineType('link', 'A link', {
  time: timestamp(),
  port: nested(port),
  spare: optional(nested(port)),
  ports: array(nested(port), 2),
})
type Link = RecordOf<typeof link>
holds<Equal<Link['port'], Port>>()
holds<Equal<Link['spare'], Port | undefined>>()
holds<Equal<Link['ports'], readonly Port[]>>()

source.report(link, { time: 0, port: record, ports: [record, record] })
source.report(link, [{ time: 0, port: record, ports: [record, record], spare: undefined }])
// @ts-expect-error a wrong field inside a record
source.report(link, { time: 0, port: { ...record, device: 1 }, ports: [record, record] })
// @ts-expect-error a field is missing inside a record
source.report(link, { time: 0, port: { time: 0 }, ports: [record, record] })
// @ts-expect-error one record where an array is
source.report(link, { time: 0, port: record, ports: record })
// @ts-expect-error a wrong record among those of an array
source.report(link, { time: 0, port: record, ports: [record, { ...record, up: 1 }] })
// @ts-expect-error an array has no arrays, of records neither
array(array(nested(port), 2), 2)
// @ts-expect-error a field is no type
nested(label())

const reportLink = source.reporter(link, ['ports', 'time', 'port'])
holds<Equal<Parameters<typeof reportLink>, [readonly Port[], number | bigint, Port]>>()
// @ts-expect-error no such field
source.reporter(link, ['nothing'])
// @ts-expect-error values come in the order of the names
reportLink(0, record, [record, record])
