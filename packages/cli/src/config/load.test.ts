import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SOURCES } from '@sonde/agent/config'
import { ConfigError } from './config-error.ts'
import { environmentLeaves, variableOf } from './environment.ts'
import { type ConfigSources, loadConfig } from './load.ts'

function fileWith(test: TestContext, text: string | Buffer): string {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-config-'))
  test.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'sonde.yaml')
  writeFileSync(file, text)
  return file
}

/** Without a file, and without the environment of the tests. */
const BARE = { environment: { SONDE_CONFIG: '' } }

function refusal(sources: ConfigSources): string {
  try {
    loadConfig(sources)
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    assert.equal(error.code, 'CFG_INVALID')
    return error.message
  }
  assert.fail('was accepted')
}

test('without anything every value is a default', () => {
  const { config, originOf, file } = loadConfig(BARE)
  assert.equal(file, undefined)
  assert.equal(config.agent.export.prometheus.port, 9394)
  assert.deepEqual(
    config.agent.dataSources.map(({ name, intervalMs }) => `${name} ${intervalMs}`),
    SOURCES.filter(({ isOnRequest }) => isOnRequest !== true).map(({ name, intervalMs }) => `${name} ${intervalMs}`),
  )
  assert.equal(originOf('export.prometheus.port'), 'default')
  assert.equal(originOf('data_sources[0].name'), 'default')
})

test('an empty environment variable is not there', () => {
  assert.equal(loadConfig({ environment: { SONDE_CONFIG: '', SONDE_LOG_LEVEL: '' } }).config.log.level, 'info')
})

test('the variables of the guide give keys of export.prometheus, and those of Sonde count more', () => {
  const environment = {
    SONDE_CONFIG: '',
    PROMETHEUS_ENDPOINT: 'http://[::1]:9101',
    PROMETHEUS_INDEXES: 'Port_num, queue',
    PROMETHEUS_CSET_DIR: '/sets',
    CLX_METADATA_FILE: '',
    CLX_PROMETHEUS_CONSTANT_LABELS: 'rack=1,pod=a=b',
    SONDE_EXPORT_PROMETHEUS_PORT: '9102',
  }
  const { config, originOf } = loadConfig({ environment })
  const { host, port, indexes, cset_dir, fset_dir, metadata_file, constant_labels } = config.agent.export.prometheus
  assert.deepEqual([host, port, indexes, cset_dir], ['::1', 9102, ['Port_num', 'queue'], '/sets'])
  assert.deepEqual([fset_dir, metadata_file, constant_labels], [undefined, undefined, ['rack=1', 'pod=a=b']])
  const origins = ['host', 'port', 'indexes', 'cset_dir', 'metadata_file', 'constant_labels']
  assert.deepEqual(
    origins.map((key) => originOf(`export.prometheus.${key}`)),
    [
      'PROMETHEUS_ENDPOINT',
      'SONDE_EXPORT_PROMETHEUS_PORT',
      'PROMETHEUS_INDEXES',
      'PROMETHEUS_CSET_DIR',
      'default',
      'CLX_PROMETHEUS_CONSTANT_LABELS',
    ],
  )
})

test('a variable of the guide with something wrong in it is refused by its name', () => {
  const faultOf = (environment: Record<string, string>) =>
    refusal({ environment: { SONDE_CONFIG: '', ...environment } })
  assert.equal(
    faultOf({ PROMETHEUS_ENDPOINT: 'https://a:1/m' }),
    'PROMETHEUS_ENDPOINT is "https://a:1/m"; allowed: http://host:port or host:port, such as http://127.0.0.1:9101; TLS and paths are not',
  )
  assert.match(faultOf({ PROMETHEUS_ENDPOINT: 'a:70000' }), /^PROMETHEUS_ENDPOINT is "a:70000"/)
  assert.match(faultOf({ PROMETHEUS_INDEXES: 'a b' }), /^PROMETHEUS_INDEXES: export\.prometheus\.indexes\[0\] is "a b"/)
  assert.match(faultOf({ CLX_PROMETHEUS_CONSTANT_LABELS: 'a' }), /constant_labels\[0\] is "a"; allowed: name=value/)
})

test('variables are read as what their key holds, not as what they look like', () => {
  const environment = {
    SONDE_CONFIG: '',
    SONDE_STORE_DIR: '2024',
    SONDE_EXPORT_PROMETHEUS_TIMESTAMPS: 'true',
    SONDE_LIMITS_STREAM_CLIENTS: '5',
  }
  const { config } = loadConfig({ environment })
  assert.equal(config.store.dir, '2024')
  assert.equal(config.agent.export.prometheus.timestamps, true)
  assert.equal(config.agent.limits.stream_clients, 5)
})

test('every setting has a variable of its own, a description, and words for what is allowed', () => {
  const leaves = environmentLeaves()
  assert.ok(leaves.length > 20, `${leaves.length} settings`)
  assert.equal(new Set(leaves.map(({ path }) => variableOf(path))).size, leaves.length)
  for (const { path, description, allowed } of leaves) {
    assert.match(description, /^[A-Z`].{8}/, path.join('.'))
    assert.match(allowed, / /, path.join('.'))
  }
})

test('every default is a value that the command would accept', (t) => {
  const required: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    jsonl: { SONDE_EXPORT_JSONL_URL: 'http://a' },
    es: { SONDE_EXPORT_ES_URL: 'http://a' },
    influx: { SONDE_EXPORT_INFLUX_URL: 'http://a', SONDE_EXPORT_INFLUX_DATABASE: 'a' },
    file: { SONDE_EXPORT_FILE_PATH: '/tmp/a' },
    autoscale: Object.fromEntries(
      Object.entries({ APP: 'a', SERVICE: 'a', DEPLOYMENT: 'a', MAX: '1', TRIGGER: 'cpu', THRESHOLD: '1' }).map(
        ([key, value]) => [`SONDE_KUBERNETES_AUTOSCALE_${key}`, value],
      ),
    ),
    remote_write: { SONDE_EXPORT_REMOTE_WRITE_URL: 'http://a' },
  }
  for (const { path, fallback } of environmentLeaves()) {
    if (fallback === undefined) continue
    const nested = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), fallback)
    const environment = { ...BARE.environment, ...required[path[1] ?? ''] }
    const { plain } = loadConfig({ environment, file: fileWith(t, JSON.stringify(nested)) })
    assert.deepEqual(
      path.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], plain),
      fallback,
    )
  }
})

test('the origin of a list given from outside is also that of its elements', (t) => {
  const file = fileWith(t, 'export: { prometheus: { allowed_hosts: [a.example] } }')
  const environment = { SONDE_EXPORT_PROMETHEUS_ALLOWED_HOSTS: 'b.example,not a name' }
  assert.match(
    refusal({ file, environment }),
    /^SONDE_EXPORT_PROMETHEUS_ALLOWED_HOSTS: export\.prometheus\.allowed_hosts\[1\] is "not a name"/,
  )
})

test('a flag does not hide that the file has something else in the place of its block', (t) => {
  const file = fileWith(t, 'export: 5')
  const flags = [{ path: ['export', 'prometheus', 'port'], value: 0, origin: '--listen' }]
  assert.match(
    refusal({ ...BARE, file, flags }),
    /:1: export is 5; allowed: a block with the keys prometheus, files, fluent_bit, jsonl, influx, es, otlp, remote_write, netflow, file, stdout$/,
  )
})

test('what is missing is reported at the line of what should hold it', (t) => {
  const file = fileWith(t, '# sources\ndata_sources:\n\n  - interval_ms: 5\n')
  assert.match(
    refusal({ ...BARE, file }),
    /:4: data_sources\[0\]\.type is missing; allowed: one of host, pressure_samples, netdev, /,
  )
})

test('a file that is no sound YAML is refused with the line of the fault', (t) => {
  const faultOf = (text: string | Buffer) =>
    refusal({ ...BARE, file: fileWith(t, text) }).replace(/^.*\/sonde\.yaml/, 'FILE')
  assert.equal(
    faultOf('log: {}\n---\nlog: {}\n'),
    'FILE:2: the line begins a second document; allowed: one document a file',
  )
  assert.equal(
    faultOf('log:\n  level: *nowhere\n'),
    'FILE:2: log.level is *nowhere; allowed: the name of an anchor before it, or the value itself',
  )
  assert.equal(
    faultOf('log: !!secret {}\n'),
    'FILE:1: the line has a tag that is not known; allowed: values without tags',
  )
  assert.equal(faultOf('log:\n\tlevel: info\n'), 'FILE:2: the line is indented with a tab; allowed: spaces')
  assert.match(faultOf('a: b: c\n'), /^FILE:1: the line has a second key; allowed: one key a line/)
  assert.match(faultOf('limits: [\n'), /^FILE:2: the line is not indented .* not closed; allowed/)
  assert.equal(faultOf('- log\n'), 'FILE:1: the file holds a list; allowed: a block of keys')
  assert.equal(faultOf('just words\n'), 'FILE:1: the file holds a string; allowed: a block of keys')
  assert.equal(faultOf(Buffer.from([0x61, 0xff, 0xfe])), 'FILE: the file is not UTF-8 text')
})

test('no alias that holds itself or unfolds to millions is followed', (t) => {
  const faultOf = (text: string) => refusal({ ...BARE, file: fileWith(t, text) })
  assert.match(faultOf('store: &a [*a]\n'), /:1: store is a value that holds itself; allowed/)
  const bomb = Array.from({ length: 9 }, (_, i) => `k${i}: &a${i} [${Array(9).fill(i === 0 ? 'x' : `*a${i - 1}`)}]`)
  assert.match(
    faultOf(`log: {}\n${bomb.join('\n')}`),
    /: its aliases unfold to too many values; allowed: values written out$/,
  )
})

test('a key that is there twice is named with its path, wherever it lies', (t) => {
  const faultOf = (text: string) => refusal({ ...BARE, file: fileWith(t, text) }).replace(/^.*\/sonde\.yaml/gm, 'FILE')
  assert.equal(
    faultOf('log: {level: info}\nlog: {level: warn}\n'),
    'FILE:2: log is there a second time; allowed: every key once',
  )
  assert.equal(
    faultOf('data_sources:\n  - type: host\n    type: netdev\nlog:\n  level: warn\n  level: info\n'),
    'FILE:3: data_sources[0].type is there a second time; allowed: every key once\n' +
      'FILE:6: log.level is there a second time; allowed: every key once',
  )
})

test('a file that is no sound YAML is refused without what may be secret in it', (t) => {
  const faultOf = (text: string) => refusal({ ...BARE, file: fileWith(t, text) }).replace(/^.*\/sonde\.yaml/gm, 'FILE')
  const block = 'export:\n  jsonl:\n    headers:\n'
  assert.match(faultOf(`${block}\ta: hush\n`), /^FILE:4: the line is indented with a tab/)
  assert.match(faultOf(`${block}      a: hush: b\n`), /^FILE:4: the line has a second key/)
  assert.equal(
    faultOf(`${block}      a: hush\n      a: hush\n`),
    'FILE:5: export.jsonl.headers.a is there a second time; allowed: every key once',
  )
  for (const text of [
    `{export: {jsonl: {headers: {a: hush\n`,
    `${block}      a: "hush\n      hush\n`,
    `"export": {jsonl: [hush\n`,
  ])
    assert.doesNotMatch(faultOf(text), /hush/)
  assert.match(faultOf(`${block}\nlog:\n\tlevel: info\n`), /^FILE:6: the line is indented with a tab/)
})

test('a file that is nested without end is refused with one line, however it is nested', (t) => {
  for (const text of [
    '['.repeat(20_000),
    '{a: '.repeat(20_000),
    '- '.repeat(20_000),
    `${'['.repeat(33)}${']'.repeat(33)}`,
  ]) {
    const fault = refusal({ ...BARE, file: fileWith(t, text) })
    assert.match(fault, /sonde\.yaml:1: the line is nested too deep; allowed: 32 levels$/)
    assert.doesNotMatch(fault, /\n/)
  }
  const deepest = `${'['.repeat(32)}${']'.repeat(32)}`
  assert.match(refusal({ ...BARE, file: fileWith(t, `${deepest}\n`) }), /the file holds a list/)
})

test('a file with many faults is told the first ones, and how many more there are', (t) => {
  const text = `log: {}\n${Array.from({ length: 100 }, (_, i) => `key${i}: 1\n`).join('')}`
  const lines = refusal({ ...BARE, file: fileWith(t, text) }).split('\n')
  assert.equal(lines.length, 33)
  assert.equal(lines.at(-1), 'and 68 more faults')
})

test('the one listener may be a list of one, and keeps its lines; a list of several is refused with the reason', (t) => {
  const file = fileWith(t, 'export:\n  prometheus:\n    - host: localhost\n      port: 1001\n')
  const flags = [{ path: ['export', 'prometheus', 'path'], value: '/m', origin: '--path' }]
  const { config, originOf } = loadConfig({ ...BARE, file, flags })
  assert.deepEqual(
    { ...config.agent.export.prometheus },
    { ...loadConfig(BARE).config.agent.export.prometheus, host: 'localhost', port: 1001, path: '/m' },
  )
  assert.equal(originOf('export.prometheus.port'), `${file}:4`)
  assert.match(
    refusal({ ...BARE, file: fileWith(t, 'export:\n  prometheus:\n    - [{}]\n') }),
    /:3: export\.prometheus is \[\{\}\]; allowed: a block with the keys host/,
  )
  for (const [text, count] of [
    ['[{ port: 1 }, { port: 2 }]', 2],
    ['[]', 0],
  ] as const)
    assert.equal(
      refusal({ ...BARE, file: fileWith(t, `export:\n  prometheus: ${text}\n`) }).replace(/^.*\/sonde\.yaml/, 'FILE'),
      `FILE:2: export.prometheus is a list of ${count}; allowed: a block, or a list of one, as there is one listener`,
    )
})

test('an address that is no URL is refused at its key, wherever an address is given', (t) => {
  const bad = 'http://h:99999'
  const places = {
    'console.prometheus.url': `console: {prometheus: {url: "${bad}"}}`,
    'console.agents.urls.a': `console: {agents: {urls: {a: "${bad}"}}}`,
    'kubernetes.autoscale.prometheusUrl': `kubernetes: {autoscale: {app: a, service: a, deployment: a, max: 2, trigger: queue_depth, threshold: 1, prometheusUrl: "${bad}"}}`,
    'data_sources[0].api_server': `data_sources: [{type: kubernetes, api_server: "${bad}"}]`,
    'export.remote_write.url': `export: {remote_write: {url: "${bad}"}}`,
    'export.otlp.url': `export: {otlp: {url: "${bad}"}}`,
  }
  for (const [place, text] of Object.entries(places)) {
    const said = refusal({ ...BARE, file: fileWith(t, text) })
    assert.ok(said.includes(`:1: ${place} is `), `${place}: ${said}`)
  }
})
