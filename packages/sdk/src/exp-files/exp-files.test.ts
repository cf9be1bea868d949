import assert from 'node:assert/strict'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../../test/files-rig.ts'
import { property, sondeError } from '../../test/helper.ts'
import { createSchema } from '../index.ts'
import { SINKS } from '../sinks/registry.ts'
import { expDestination } from './destination.ts'
import { parseExp } from './parse.ts'
import { PLUGINS } from './plugins.ts'
import { readExpFolder } from './read-folder.ts'

const SAMPLES = fileURLToPath(new URL('../../../../deploy/fluent_bit_configs/', import.meta.url))

function folderOf(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = join(temporaryFolder(t), 'exp')
  mkdirSync(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

const read = (dir: string) => readExpFolder({ FLUENT_BIT_EXPORT_ENABLE: '1', FLUENT_BIT_CONFIG_DIR: dir })

function blockOf(text: string): Readonly<Record<string, unknown>> | undefined {
  const { destination, faults } = expDestination(parseExp(text), '/etc/x/one.exp', () => ['[port]', '^rx'])
  assert.deepEqual(faults, [])
  return destination && { kind: destination.kind, ...destination.block }
}

const faultsOf = (text: string) =>
  expDestination(parseExp(text), '/etc/x/one.exp', () => 'is not there').faults.map(
    ({ line, words }) => `${line}: ${words}`,
  )

test('every sample is a destination once it is switched on, alone and with all others', (t) => {
  const samples = globSync('*.exp', { cwd: SAMPLES }).sort()
  assert.deepEqual(samples, ['es.exp', 'file.exp', 'forward.exp', 'influx.exp', 'stdout.exp', 'stdout_raw.exp'])
  const texts = samples.map((name) => [name, readFileSync(join(SAMPLES, name), 'utf8')] as const)
  assert.deepEqual(read(SAMPLES), { destinations: [], faults: [] })
  const on = texts.map(
    ([name, text]) =>
      [name, text.replace('enable=0', 'enable=1').replace(/^# (fieldset|source_tags)=/gm, '$1=')] as const,
  )
  const set = readFileSync(join(SAMPLES, 'ufm_enterprise.fset'), 'utf8')
  const dir = folderOf(t, { ...Object.fromEntries(on), 'ufm_enterprise.fset': set })
  const { destinations, faults } = read(dir)
  assert.deepEqual(faults, [])
  assert.deepEqual(
    destinations.map(({ file }) => basename(file)),
    samples,
  )
  const forward = destinations.find(({ kind }) => kind === 'fluent_bit')
  assert.deepEqual(forward?.block.tags, ['counters', 'link_monitor'])
  assert.deepEqual([forward?.block.field_set].flat().slice(0, 2), ['[ethtool_port]', '^rx'])
  withEnvironment(t, dir)
  const schema = createSchema({ name: 'app', prometheus: false, export: { jsonl: { url: 'http://127.0.0.1:1/' } } })
  assert.deepEqual(Object.keys(schema.options.export).sort(), ['es', 'file', 'fluentBit', 'influx', 'jsonl', 'stdout'])
})

function withEnvironment(t: TestContext, dir: string): void {
  process.env.FLUENT_BIT_EXPORT_ENABLE = '1'
  process.env.FLUENT_BIT_CONFIG_DIR = dir
  t.after(() => {
    delete process.env.FLUENT_BIT_EXPORT_ENABLE
    delete process.env.FLUENT_BIT_CONFIG_DIR
  })
}

test('keys of a file become those of a destination', () => {
  const start = 'enable=1\nplugin_name='
  assert.deepEqual(
    blockOf(`name=central\n${start}forward\nhost=192.0.2.10\nport=24224\nmsgpack_data_layout=standard
source_tags=counters, link_monitor\nfieldset=/etc/link.fset\nplugin_tag_match_pair=telemetry.link
plugin_TLS=On\nplugin_tls.verify=off\nplugin_shared_key=a=b#c\nadd_site=lab`),
    {
      ...{ kind: 'fluent_bit', name: 'central', host: '192.0.2.10', port: 24_224, layout: 'flb_std' },
      ...{ tags: ['counters', 'link_monitor'], field_set: ['[port]', '^rx'], tag: 'telemetry.link' },
      ...{ tls: { enabled: true, verify: false }, shared_key: 'a=b#c', labels: { add: { site: 'lab' } } },
    },
  )
  assert.deepEqual(blockOf(`${start}es\nhost=::1\nplugin_tls=on\nplugin_Logstash_Format=On`), {
    ...{ kind: 'es', name: 'one.exp', index: 'fluent-bit', logstash_prefix: 'logstash' },
    ...{ url: 'https://[::1]:9200', logstash_format: true },
  })
  assert.deepEqual(blockOf(`${start}influx\nport=1\nplugin_database=d`), {
    ...{ kind: 'influx', name: 'one.exp', url: 'http://127.0.0.1:1', database: 'd' },
  })
  assert.deepEqual(blockOf(`${start}file\nplugin_path=/var/log\nplugin_format=csv`), {
    ...{ kind: 'file', name: 'one.exp', format: 'csv', path: '/var/log/one.log' },
  })
  assert.deepEqual(blockOf(`${start}stdout_raw\nmsgpack_data_layout=custom`), {
    ...{ kind: 'stdout', name: 'one.exp', format: 'plain', layout: 'custom' },
  })
  assert.equal(blockOf('# nothing\nenable=0\nplugin_name=unknown\nnonsense'), undefined)
})

test('counterset and fieldset together become one set, whichever comes first', () => {
  const sets: Readonly<Record<string, readonly string[]>> = { 'a.cset': ['^rx', 'tx$'], 'b.fset': ['[port]', 'speed'] }
  for (const lines of ['counterset=a.cset\nfieldset=b.fset', 'fieldset=b.fset\ncounterset=a.cset']) {
    const text = `enable=1\nplugin_name=stdout\n${lines}`
    const { destination, faults } = expDestination(parseExp(text), 'x.exp', (path) => sets[path] ?? 'is not there')
    assert.deepEqual(faults, [])
    assert.deepEqual(destination?.block.field_set, ['^rx', 'tx$', '[port]', 'speed'])
    assert.equal(destination?.lines.has('field_set'), true)
  }
})

test('a fault has its line and what is allowed, and shows no value of an unknown key', () => {
  assert.deepEqual(faultsOf('enable=2'), ['1: enable is "2"; allowed: 0 or 1'])
  const plugins = 'allowed: forward, stdout, stdout_raw, file, es, influxdb'
  assert.deepEqual(faultsOf('enable=1'), [`1: plugin_name is missing; ${plugins}`])
  assert.deepEqual(faultsOf('enable=1\nplugin_name=splunk'), [`2: plugin_name is "splunk"; ${plugins}`])
  assert.deepEqual(faultsOf('enable=1\nplugin_name=kafka'), [
    `2: plugin_name is kafka, and Sonde does not send to Kafka; ${plugins}`,
  ])
  const [unknown = '', key = '', port, none, again, layout, set] = faultsOf(`enable=1
plugin_name=es
pasword=hush
plugin_http_pasword=hush
port=0
nothing here
enable=1
msgpack_data_layout=custom
fieldset=none.fset`).sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
  assert.match(unknown, /^3: pasword is an unknown key; allowed: name, enable, .*, plugin_<key>, add_<label>$/)
  assert.match(key, /^4: plugin_http_pasword is an unknown key of this plugin; allowed: plugin_index, .*http_passwd/)
  assert.deepEqual(
    [port, none, again, layout, set],
    [
      '5: port is "0"; allowed: a port from 1 to 65535',
      '6: is no setting; allowed: key=value, or a comment that begins with #',
      '7: enable is given again, after line 1; allowed: once',
      '8: msgpack_data_layout is "custom"; allowed: flb_std, standard; custom is for forward and stdout',
      '9: fieldset is "none.fset": is not there',
    ],
  )
})

test('the variables: what they switch on, and what is wrong with them', (t) => {
  assert.deepEqual(readExpFolder({}), { destinations: [], faults: [] })
  assert.deepEqual(readExpFolder({ FLUENT_BIT_EXPORT_ENABLE: '0', FLUENT_BIT_CONFIG_DIR: '/none' }).faults, [])
  assert.deepEqual(readExpFolder({ FLUENT_BIT_EXPORT_ENABLE: 'yes' }).faults, [
    'FLUENT_BIT_EXPORT_ENABLE is "yes"; allowed: 1, 0',
  ])
  assert.match(read('/none').faults.join(), /^FLUENT_BIT_CONFIG_DIR is \/none, which cannot be read: ENOENT/)
  const dir = folderOf(t, { 'a.exp': 'enable=1\nplugin_name=es\nx=1', 'b.exp': 'enable=1\nplugin_name=influxdb' })
  const [fault = ''] = read(dir).faults
  assert.ok(fault.startsWith(`${dir}/a.exp:3: x is an unknown key; allowed: `), fault)
  withEnvironment(t, dir)
  assert.throws(
    () => createSchema({ name: 'app' }),
    sondeError('TEL_OPTION', /^schema app: .*a\.exp:3: x is an unknown key/),
  )
  rmSync(join(dir, 'a.exp'))
  const missing = /^schema app: .*b\.exp:1: database is missing; allowed: database for InfluxDB 1/
  assert.throws(() => createSchema({ name: 'app' }), sondeError('TEL_OPTION', missing))
  writeFileSync(join(dir, 'b.exp'), 'enable=1\nplugin_name=es\nplugin_Index=A B\nplugin_tls.ca_file=/none\n')
  const index = /^schema app: .*b\.exp:3: index is "A B"; allowed: an index name/
  assert.throws(() => createSchema({ name: 'app' }), sondeError('TEL_OPTION', index))
  writeFileSync(join(dir, 'b.exp'), 'enable=1\nplugin_name=es\n\nplugin_tls=on\nplugin_tls.ca_file=/none\n')
  const file = /^schema app: .*b\.exp:5: tls\.ca_file is "\/none", which cannot be read: ENOENT/
  assert.throws(() => createSchema({ name: 'app' }), sondeError('TEL_OPTION', file))
})

test('each plugin is a kind of destination, and its keys are keys of it', () => {
  for (const { kind } of Object.values(PLUGINS))
    assert.ok(
      SINKS.some(({ name }) => name === kind),
      kind,
    )
})

property('any text is read or refused by its lines', 300, (random) => {
  const words = [
    'enable',
    '=',
    '1',
    '\n',
    '#',
    'plugin_name',
    'es',
    'plugin_',
    'tls',
    ' ',
    '__proto__',
    'add_',
    '\u0000',
    'é',
  ]
  const any = Array.from({ length: random.integer(0, 30) }, () => random.pick(words)).join('')
  const text = `enable=1\nplugin_name=forward\n${any}`
  const count = text.split('\n').length
  for (const { line } of expDestination(parseExp(text), 'x.exp', () => []).faults) assert.ok(line >= 1 && line <= count)
})
