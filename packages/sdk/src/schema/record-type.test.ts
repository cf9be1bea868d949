import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sondeError } from '../../test/helper.ts'
import { sourceHealthType } from './builtin.ts'
import {
  array,
  buckets,
  chars,
  counter,
  type Field,
  gauge,
  label,
  labelNumber,
  nested,
  optional,
  text,
  timestamp,
  value,
} from './field.ts'
import { definitionOf } from './fingerprint.ts'
import { defineType, type Fields, typeOfDefinition } from './record-type.ts'

const one: Fields = { n: value('u32') }

test('takes names of letters, digits and a few marks', () => {
  for (const name of ['a', '_x', 'sondes_absence', 'HeatSensor', 'diag.pcie:read-latency', 'x'.repeat(128)]) {
    assert.equal(defineType(name, '', { [name]: value('u8') }).name, name)
  }
})

test('refuses names that some format could not carry', () => {
  const wrongs = ['', '1a', 'a b', 'a"b', 'ä', 'a\n', '-a', 'x'.repeat(129), '__proto__', 'a;alert(1)']
  for (const name of wrongs) {
    assert.throws(() => defineType(name, '', one), sondeError('SCH_NAME', /cannot name a type/))
    assert.throws(() => defineType('t', '', { [name]: value('u8') }), sondeError('SCH_NAME', /a field of type t/))
  }
})

test('bounds the number of fields and the size of a record', () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, value('u8')]))
  assert.throws(() => defineType('t', '', {}), sondeError('SCH_LIMIT', /0 fields/))
  assert.equal(defineType('t', '', many(1024)).layout.slots.length, 1024)
  assert.throws(() => defineType('t', '', many(1025)), sondeError('SCH_LIMIT', /1025 fields/))
  const wide = { a: array(value('f64'), 65_535), b: array(value('f64'), 65_535) }
  assert.equal(defineType('t', '', wide).layout.recordBytes, 1_048_560)
  const wider = { ...wide, c: array(value('f64'), 3) }
  assert.throws(() => defineType('t', '', wider), sondeError('SCH_LIMIT', /1048584 bytes/))
})

test('refuses fields that no record could mean', () => {
  const wrongs: Record<string, Field> = {
    'an optional label': optional(label()) as Field,
    'an optional timestamp': optional(timestamp()) as Field,
    'an array of labels': { ...label(), count: 2 },
    'no elements': { ...value('u8'), count: 0 },
    'too many elements': { ...value('u8'), count: 65_536 },
    'half an element': { ...value('u8'), count: 1.5 },
    'bins without edges': { ...value('u64'), role: 'bucket', count: 3 },
    'a kind from a foreign file': { ...value('u8'), kind: 'u8[0]=1;process.exit();//' as 'u8' },
    'a kind that every object has': { ...value('u8'), kind: 'constructor' as 'u8' },
    'a role from a foreign file': { ...value('u8'), role: 'owner' as 'value' },
  }
  for (const [what, field] of Object.entries(wrongs)) {
    assert.throws(() => defineType('t', '', { f: field }), sondeError('SCH_FIELD', /field f of type t/), what)
  }
  const two = { a: timestamp(), b: timestamp() }
  assert.throws(() => defineType('t', '', two), sondeError('SCH_FIELD', /2 timestamps/))
})

test('refuses arrays of what is no scalar, and bins without ascending edges', () => {
  const scalar = value('u8')
  for (const count of [0, 1, -1, 2.5, 65_536, Number.NaN]) {
    assert.throws(() => array(scalar, count), sondeError('SCH_FIELD'))
  }
  assert.throws(() => array(chars(8) as unknown as Field<number, false>, 2), sondeError('SCH_FIELD', /kind char/))
  assert.throws(() => array(array(scalar, 2) as unknown as Field<number, false>, 2), sondeError('SCH_FIELD'))
  for (const edges of [[], [1, 1], [2, 1], [Number.NaN], [1, Number.POSITIVE_INFINITY]]) {
    assert.throws(() => buckets('u64', edges), sondeError('SCH_FIELD', /edges \[/))
  }
  assert.equal(buckets('u64', [1, 2, 4]).count, 4)
})

test('names the metrics of counters, gauges and bins, and of nothing else', () => {
  const type = defineType('net.dev', '', {
    time: timestamp(),
    device: label(),
    'rx.bytes': counter('u64'),
    speed: gauge('u64', { metric: 'link_speed_bytes' }),
    'wait-time': buckets('u64', [1, 2]),
    note: text(),
    raw: value('u64'),
  })
  assert.deepEqual(
    [...type.metrics],
    [
      ['rx.bytes', 'net_dev_rx_bytes'],
      ['speed', 'link_speed_bytes'],
      ['wait-time', 'net_dev_wait_time'],
    ],
  )
  const wrong = { n: gauge('u8', { metric: 'a b' }) }
  assert.throws(() => defineType('t', '', wrong), sondeError('SCH_METRIC_NAME', /"a b" of t\.n/))
})

test('finds the labels in order, and the time', () => {
  const type = defineType('t', '', { b: label(), time: timestamp('us'), a: chars(8), n: value('u8') })
  assert.deepEqual(
    type.labels.map(({ name }) => name),
    ['b', 'a'],
  )
  assert.equal(type.time?.field.resolution, 'us')
  assert.equal(defineType('t', '', one).time, undefined)
})

test('aligned fields lie where C puts them, packed ones without padding', () => {
  const fields = { a: value('u8'), b: value('u64'), c: value('u16'), d: array(value('u32'), 3), e: chars(3) }
  const places = (layout: 'aligned' | 'packed', optionalToo: boolean) => {
    const all = optionalToo ? { ...fields, z: optional(value('u8')) } : fields
    const type = defineType('t', '', all, { layout })
    return [...type.layout.slots.map(({ offset }) => offset), type.layout.recordBytes]
  }
  assert.deepEqual(places('aligned', false), [0, 8, 16, 20, 32, 40])
  assert.deepEqual(places('packed', false), [0, 1, 9, 11, 23, 26])
  assert.deepEqual(places('aligned', true), [4, 8, 16, 20, 32, 35, 40])
  assert.deepEqual(places('packed', true), [4, 5, 13, 15, 27, 30, 31])
})

test('a type rebuilt from its definition, by way of JSON, is the same type', () => {
  const fields = {
    time: timestamp(),
    device: label('Device'),
    bins: buckets('u32', [0.5, 1]),
    n: optional(gauge('i16')),
  }
  const type = defineType('t', 'about', fields, { layout: 'packed' })
  const definition = JSON.parse(JSON.stringify(definitionOf(type)))
  const rebuilt = defineType(
    definition.name,
    definition.description,
    Object.fromEntries(definition.fields.map(({ name, ...field }: { name: string }) => [name, field])),
    { layout: definition.layout },
  )
  assert.equal(rebuilt.fingerprint, type.fingerprint)
  assert.deepEqual(rebuilt.layout, type.layout)
})

test('a type cannot be changed', () => {
  const type = defineType('t', '', one)
  assert.throws(() => Object.assign(type, { name: 'other' }), TypeError)
})

test('names that begin with sonde_ are kept for what Sonde says of itself, also where only the metric has one', () => {
  const fields = { source: label(), up: gauge('u64') }
  assert.throws(() => defineType('sonde_source', '', fields), sondeError('SCH_NAME', /begin with sonde_/))
  assert.throws(() => defineType('sonde_mine', '', { note: text() }), sondeError('SCH_NAME'))
  assert.throws(() => defineType('sonde.source', '', fields), sondeError('SCH_METRIC_NAME', /sonde_source_up/))
  const named = { up: gauge('u64', { metric: 'sonde_source_up' }) }
  assert.throws(() => defineType('mine', '', named), sondeError('SCH_METRIC_NAME', /mine\.up/))
  defineType('sonde', '', { note: text() })
})

test("a definition becomes the type that it was made of, and Sonde's own types too", () => {
  const fields = { n: counter('u64', { help: 'N' }) }
  const types = [defineType('port', 'A port', fields), defineType('port', 'A port', fields, { inTurns: true })]
  assert.equal(
    new Set(types.map(({ fingerprint }) => fingerprint)).size,
    2,
    'whether it has turns is part of its meaning',
  )
  for (const type of [...types, sourceHealthType]) {
    assert.deepEqual(typeOfDefinition(definitionOf(type)), type)
  }
})

test('a type that is declared without what it needs is refused with what that is', () => {
  const declare = (...given: unknown[]) => Reflect.apply(defineType, undefined, given)
  assert.throws(() => declare(), sondeError('SCH_NAME', /^undefined cannot name a type/))
  assert.throws(() => declare(null, '', {}), sondeError('SCH_NAME', /^null cannot name a type/))
  assert.throws(() => declare('job'), sondeError('SCH_FIELD', /the description of type job is undefined/))
  assert.throws(() => declare('job', ''), sondeError('SCH_FIELD', /is undefined; allowed: fields by name/))
  assert.throws(
    () => declare('job', '', { n: null }),
    sondeError('SCH_FIELD', /field n of type job is null; make fields/),
  )
  assert.throws(() => declare('job', '', { n: value('u8') }, null), sondeError('SCH_FIELD', /an object of options/))
  assert.throws(
    () => declare('job', '', { n: value('u8') }, { layout: 'dense' }),
    sondeError('SCH_FIELD', /"dense"; allowed: aligned, packed/),
  )
})

test('what TypeScript would refuse is refused with type, field, what was given and what is allowed', () => {
  const call = (f: unknown, ...given: unknown[]) => Reflect.apply(f as () => Field, undefined, given)
  const faults: [() => Field, RegExp][] = [
    [() => call(counter, 'char'), /^field z of type job: kind of a counter is "char"; allowed: u8, .*, f64$/],
    [() => call(gauge, 'symbol'), /kind of a gauge is "symbol"; allowed: u8, .*, bool$/],
    [() => call(labelNumber, 'f64'), /kind of a label is "f64"; allowed: symbol, char, u8, u16, u32$/],
    [() => call(timestamp, 'ms'), /^field z of type job: unit is "ms"; allowed: ns, us$/],
    [() => call(chars, 8, { role: 'counter' }), /kind of a counter is "char"/],
    [
      () => call(gauge, 'f64', { hlep: 'x' }),
      /"hlep" is no option \(did you mean help\?\); allowed: help, unit, metric/,
    ],
    [
      () => call(gauge, 'f64', { unit: 5 }),
      /^field z of type job: unit is 5; allowed: text of at most 4096 characters/,
    ],
    [
      () => call(gauge, 'f64', { count: 5 }),
      /^count is no option of a gauge; allowed: help, unit, metric, labels, metricType, class; see array/,
    ],
    [() => call(gauge, 'f64', { optional: true }), /^optional is no option of a gauge/],
    [() => call(label, 'Queue', { unit: 'jobs' }), /^label was given an object beyond what it takes/],
    [() => call(gauge, 'f64', {}, { help: 'Level' }), /^gauge was given an object beyond/],
    [() => call(optional, gauge('f64'), { help: 'Level' }), /^optional was given an object beyond/],
    [() => call(label, 5), /^field z of type job: help is 5; allowed: text/],
    [() => gauge('f64', { help: 'x'.repeat(4097) }), /help is "x+"; allowed: text of at most 4096/],
    [() => call(buckets, 'f64', [1]), /kind of a bucket is "f64"; allowed: u32, u64/],
    [() => call(buckets, 'u64'), /edges undefined of a histogram/],
    [() => call(nested, {}), /nested was given an object; allowed: a type that defineType made/],
    [
      () => call(nested, defineType('job', '', one), { hepl: 'x' }),
      /nested record of type job: "hepl" is no option \(did you mean help\?\)/,
    ],
    [() => call(array, undefined, 3), /an array of 3 of undefined; allowed: 2 to 65535 scalars/],
    [() => call(array, value('u8'), '3'), /an array of "3" of kind u8/],
  ]
  for (const [make, message] of faults) {
    assert.throws(() => defineType('job', '', { z: make() }), sondeError('SCH_FIELD', message))
  }
  const twins = { a: gauge('f64', { metric: 'm' }), b: gauge('f64', { metric: 'm' }) }
  const message =
    /^fields a and b of type job have one metric, m{}; give each a separate name with metric, or distinct labels$/
  assert.throws(() => defineType('job', '', twins), sondeError('SCH_FIELD', message))
  const misspelt = () => Reflect.apply(defineType, undefined, ['job', '', { n: value('u8') }, { layuot: 'packed' }])
  assert.throws(
    misspelt,
    sondeError('SCH_FIELD', /options of type job: "layuot" is no option \(did you mean layout\?\)/),
  )
})

test('fields share a metric if their constant labels differ and all else is the same', () => {
  const cpu = { metric: 'cpu_total', unit: 'seconds' }
  const user = counter('f64', { ...cpu, labels: { mode: 'user' } })
  const idle = counter('f64', { ...cpu, labels: { mode: 'idle' } })
  const { metrics, fingerprint } = defineType('job', '', { user, idle })
  assert.deepEqual(
    [...metrics],
    [
      ['user', 'cpu_total'],
      ['idle', 'cpu_total'],
    ],
  )
  const other = defineType('job', '', { user, idle: counter('f64', { ...cpu, labels: { mode: 'nice' } }) })
  assert.notEqual(other.fingerprint, fingerprint)
  const faults: [Fields, RegExp][] = [
    [{ user, idle: user }, /fields user and idle of type job have one metric, cpu_total{mode="user"}; give each/],
    [
      { user, idle: counter('f64', { metric: 'cpu_total', labels: { mode: 'idle' } }) },
      /a counter in seconds and a counter without unit; allowed: the same role/,
    ],
    [
      { user, idle: gauge('f64', { ...cpu, labels: { mode: 'idle' } }) },
      /share the metric cpu_total but are a counter in/,
    ],
    [{ user, mode: label() }, /type job has mode both as a label field and as a constant label; rename one/],
  ]
  for (const [fields, message] of faults)
    assert.throws(() => defineType('job', '', fields), sondeError('SCH_FIELD', message))
})

test('refuses constant labels that no exposition could carry', () => {
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`l${i}`, 'x']))
  const faults: [unknown, RegExp][] = [
    [{}, /labels is "0 labels"; allowed: 1 to 8 labels/],
    [many, /"9 labels"/],
    [null, /labels is null; allowed: texts by name/],
    [['a'], /allowed: texts by name/],
    [{ le: '1' }, /labels is "le"; allowed: letters, digits/],
    [{ index: '1' }, /labels is "index"/],
    [{ quantile: '1' }, /labels is "quantile"/],
    [{ simulated: 'true' }, /labels is "simulated"/],
    [{ __name__: 'x' }, /labels is "__name__"/],
    [JSON.parse('{"__proto__":"x"}'), /labels is "__proto__"/],
    [{ 'a-b': 'x' }, /labels is "a-b"/],
    [{ mode: '' }, /labels.mode is ""; allowed: text of 1 to 200 characters/],
    [{ mode: 7 }, /labels.mode is 7/],
    [{ mode: 'x'.repeat(201) }, /labels.mode is/],
  ]
  for (const [labels, message] of faults) {
    const field = counter('u64', { labels: labels as Record<string, string> })
    assert.throws(() => defineType('job', '', { n: field }), sondeError('SCH_FIELD', message))
  }
  const data = { n: value('u8', { labels: { mode: 'x' } }) }
  assert.throws(() => defineType('job', '', data), sondeError('SCH_FIELD', /labels of a value is .*; allowed: none/))
})
