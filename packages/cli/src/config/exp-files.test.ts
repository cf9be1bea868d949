import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { printConfig } from '../commands/config.ts'
import { ConfigError } from './config-error.ts'
import { loadConfig } from './load.ts'

function loadWith(t: TestContext, files: Readonly<Record<string, string>>) {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-exp-'))
  t.after(() => rmSync(dir, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text)
  const environment = { SONDE_CONFIG: '', FLUENT_BIT_EXPORT_ENABLE: '1', FLUENT_BIT_CONFIG_DIR: dir }
  const file = files['sonde.yaml'] === undefined ? {} : { file: join(dir, 'sonde.yaml') }
  return { dir, load: () => loadConfig({ environment, ...file }) }
}

test('destinations of .exp files stand behind those of the file, each value with its origin', (t) => {
  const { dir, load } = loadWith(t, {
    'sonde.yaml': 'export:\n  es:\n    url: http://127.0.0.1:1\n    index: mine\n',
    'es.exp':
      'name=theirs\nenable=1\nplugin_name=es\nhost=far\nplugin_Index=yours\nplugin_http_passwd=hush\nplugin_http_user=u\n',
    'influx.exp': 'enable=1\nplugin_name=influxdb\nplugin_database=d\n',
  })
  const loaded = load()
  assert.deepEqual(
    ['export.es[0].index', 'export.es[1].index', 'export.es[1].url', 'export.influx[0].database'].map(loaded.originOf),
    [`${dir}/sonde.yaml:4`, `${dir}/es.exp:5`, `${dir}/es.exp:4`, `${dir}/influx.exp:3`],
  )
  const text = printConfig(loaded)
  assert.match(text, /url: http:\/\/far:9200\/? +# .*es\.exp:4/)
  assert.match(text, /name: influx.exp +# .*influx\.exp:1/)
  assert.doesNotMatch(text, /hush/)
})

test('a fault of a .exp file names file and line, also where only the schema of the destination sees it', (t) => {
  const faultOf = (files: Readonly<Record<string, string>>) => {
    try {
      loadWith(t, files).load()
    } catch (error) {
      assert.ok(error instanceof ConfigError)
      return error.message
    }
    return ''
  }
  assert.match(
    faultOf({ 'a.exp': 'enable=1\nplugin_name=es\nhots=b' }),
    /\/a\.exp:3: hots is an unknown key; allowed: /,
  )
  const index = faultOf({ 'a.exp': 'enable=1\nplugin_name=es\nplugin_index=A B' })
  assert.match(index, /\/a\.exp:3: export\.es\[0\]\.index is "A B"; allowed: an index name/)
  const database = faultOf({ 'a.exp': 'enable=1\nplugin_name=influxdb' })
  assert.match(database, /\/a\.exp:1: export\.influx\[0\]\.database is missing; allowed: database for InfluxDB 1/)
})
