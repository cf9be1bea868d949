// Files that are named for Sonde and are other files: nothing of them is shown.
import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { metricsOf } from '../ask.ts'
import { runSonde, startSonde, temporaryDir, until } from '../sonde-process.ts'

const LIMIT_MS = 30_000
const LISTEN = ['--listen', '127.0.0.1:0']
/** Files that only some may read, each with this word in it. */
const SECRET = 'hushhush'
const PROTECTED: Readonly<Record<string, string>> = {
  shadow: `root:$y$j9T$${SECRET}$${SECRET}:19800:0:99999:7:::\ndaemon:*:19800:0:99999:7:::\n`,
  'JSON of a registry': `{"auths": {"${SECRET}": {"auth": "${SECRET}"}}}\n`,
  'YAML of others': `users:\n- name: ${SECRET}\n  token: ${SECRET}\n  token: ${SECRET}\n`,
}

/** The file, and links to it under every name that a configuration has for a file. */
function linksTo(t: TestContext, text: string) {
  const { path: dir, remove } = temporaryDir()
  t.after(remove)
  const link = (...names: readonly string[]) => {
    const path = join(dir, ...names)
    symlinkSync(join(dir, 'protected'), path)
    return path
  }
  writeFileSync(join(dir, 'protected'), text)
  const [sets, schema] = ['sets', 'schema'].map((name) => join(dir, name)) as [string, string]
  for (const folder of [sets, schema]) mkdirSync(folder)
  writeFileSync(join(sets, 'own.fset'), text)
  return { dir, link, sets, schema }
}

for (const [name, text] of Object.entries(PROTECTED)) {
  test(`of ${name} nothing is in what the commands say`, async (t) => {
    const { link, sets } = linksTo(t, text)
    const rules = link('rules.json')
    const [config, labels, flags] = [link('sonde.yaml'), link('labels'), link('flags.json')]
    const runs = [
      ['config', '--config', config],
      ['check', '--config', config, ...LISTEN],
      ['traceback', '-d', 'file:none', '--rules', rules],
      ['traceback', '-d', 'file:none', '--rules', rules, '--compat'],
      ['traceback', '-d', `file:${rules}`, '--json', flags],
      ['read', rules, '--fset', join(sets, 'own.fset')],
    ]
    const env = { SONDE_TRACEBACK_RULES: rules, PROMETHEUS_FSET_DIR: sets }
    const checks = [env, { CLX_METADATA_FILE: labels }].map((given) =>
      runSonde(['check', '--only-simulated', '--simulate', ...LISTEN], { env: given }),
    )
    const ends = await Promise.all([...runs.map((args) => runSonde(args)), ...checks])
    for (const [i, { output }] of ends.entries()) assert.doesNotMatch(output, new RegExp(SECRET), `run ${i}`)
    assert.match(ends.at(-2)?.output ?? '', /^rules +damaged .*rules\.json: /m, 'the place is said')
  })
}

test('of files that an agent reads while it runs nothing is in API, metrics and log', async (t) => {
  const { path: dir, remove } = temporaryDir()
  t.after(remove)
  const paths = { rules: join(dir, 'rules\u202e.json'), discovery: join(dir, 'targets.json'), sets: join(dir, 'sets') }
  mkdirSync(paths.sets)
  const config = join(dir, 'sonde.yaml')
  const source = { type: 'dcgm_exporter', discovery_file: paths.discovery, interval_ms: 1000 }
  writeFileSync(
    config,
    JSON.stringify({
      data_sources: [source],
      traceback: { rules: paths.rules },
      export: { prometheus: { fset_dir: paths.sets } },
    }),
  )
  const { shadow = '' } = PROTECTED
  for (const path of [paths.rules, paths.discovery, join(paths.sets, 'a.fset')]) writeFileSync(path, shadow)
  const sonde = await startSonde(['agent', '--config', config, '--log-level', 'trace'])
  t.after(() => sonde.stop('SIGKILL'))
  await until('the log tells of the rules', LIMIT_MS, () => /rules\\u202e\.json/.test(sonde.output()))
  const routes = [
    '/api/v1/sources',
    '/api/v1/node',
    '/api/v1/explain?of=traceback',
    '/fset/a',
    '/api/v1/incidents?kind=event',
  ]
  const answers = await Promise.all(routes.map(async (route) => (await fetch(sonde.address + route)).text()))
  assert.ok(!sonde.output().includes('\u202e'), 'no name turns the order of what a terminal shows')
  for (const said of [...answers, await metricsOf(sonde), sonde.output()]) assert.doesNotMatch(said, new RegExp(SECRET))
})
