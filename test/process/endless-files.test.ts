// Files of the kernel that say they are empty, and hardly end, in the place of files that Sonde reads. Whoever may
// write a folder can put a link to one there.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { nodeBody, serveExporter } from '../../packages/agent/src/sources/scraping/test-exporter.ts'
import { ask, metricsOf } from '../ask.ts'
import { runSonde, startSonde, temporaryDir, until } from '../sonde-process.ts'

const ENDLESS = '/proc/self/pagemap'
const LIMIT_MS = 60_000
const RULES = {
  sample_history_depth: 1,
  signals: [{ name: 'load', type: 'my_app', field: 'load' }],
  rules: [{ name: 'busy', signal: 'load', comparison_type: 'gt', comparison_value: 1 }],
}

/** A folder with all files that a configuration names, and that configuration. */
async function configured(t: TestContext) {
  const exporter = await serveExporter(nodeBody('node', 'llama'))
  t.after(() => exporter.close())
  const { path: dir, remove } = temporaryDir()
  t.after(remove)
  const [labels, rules, targets, config] = ['labels.ini', 'rules.json', 'targets.json', 'sonde.yaml'].map((name) =>
    join(dir, name),
  ) as [string, string, string, string]
  writeFileSync(labels, 'site=here\n')
  writeFileSync(rules, JSON.stringify(RULES))
  writeFileSync(targets, JSON.stringify([{ targets: [new URL(exporter.address).host] }]))
  const source = { type: 'dcgm_exporter', interval_ms: 1000, timeout_ms: 900, discovery_file: targets }
  const content = {
    data_sources: [{ type: 'host' }, source],
    store: { enabled: false },
    export: { prometheus: { metadata_file: labels } },
    traceback: { rules, dir: join(dir, 'events') },
  }
  writeFileSync(config, JSON.stringify(content))
  const replace = (path: string) => {
    rmSync(path)
    symlinkSync(ENDLESS, path)
  }
  return { labels, rules, targets, args: ['--config', config], replace }
}

test('an agent refuses files without an end as too large, and goes on with what they said before', async (t) => {
  const { labels, rules, targets, args, replace } = await configured(t)
  const sonde = await startSonde(['agent', ...args])
  t.after(() => sonde.stop('SIGKILL'))
  await until('rules are in effect', LIMIT_MS, () => /rules of traceback are in effect/.test(sonde.output()))
  for (const path of [labels, rules, targets]) replace(path)
  const page = await until('the label file is told', LIMIT_MS, async () => {
    const answered = await metricsOf(sonde)
    return /^sonde_label_file_broken\{.*\} 0*1$/m.test(answered) && answered
  })
  assert.match(page, /^host_\w+\{[^}]*site="here"/m)
  const isTold = (text: string, path: string) => text.includes(`${path} is larger than 1048576 bytes`)
  for (const path of [labels, rules]) await until(path, LIMIT_MS, () => isTold(sonde.output(), path))
  await until(targets, LIMIT_MS, async () =>
    isTold(JSON.stringify(await ask(sonde, '/api/v1/sources/dcgm_exporter')), targets),
  )
  assert.match(await metricsOf(sonde), /^host_\w+\{[^}]*site="here"/m)
})

test('commands refuse files without an end as too large', async (t) => {
  const { labels, rules, args, replace } = await configured(t)
  replace(rules)
  const simulated = await runSonde(['check', '--simulate', ...args, '--listen', '127.0.0.1:0'])
  assert.match(simulated.output, /^rules +denied +\S+ is larger than 1048576 bytes$/m)
  replace(labels)
  for (const [allowedBytes, ...words] of [
    [1_048_576, 'agent', ...args],
    [65_536, 'read', '.', '--cset', ENDLESS],
    [65_536, 'traceback', '--json', ENDLESS],
  ] as const) {
    const { code, output } = await runSonde(words)
    assert.match(output, new RegExp(`^sonde: [^\\n]*larger than ${allowedBytes} bytes\\n$`), words.join(' '))
    assert.equal(code, 2, output)
  }
})

test('no command waits for a pipe into which nobody writes, and one with a writer is read', async (t) => {
  const { path, remove } = temporaryDir()
  t.after(remove)
  const pipe = join(path, 'pipe')
  execFileSync('mkfifo', [pipe])
  const traceback = ['traceback', '-d', 'file:none', '--rules', pipe]
  const waiting = [['config', '--config', pipe], ['read', '.', '--fset', pipe], traceback]
  const rules = join(path, 'rules.json')
  const id = '0x1020000100000000'
  const rule = { name: 'a', data_id: id, comparison_type: 'dt_gt', comparison_value: 1 }
  const ids = { 'data-ids': [{ name: 'a', data_id: id }], diag_sample_period_ns: 1000, sample_history_depth: 1 }
  writeFileSync(rules, JSON.stringify({ ...ids, rules: [rule] }))
  const log = ['--event-log', join(path, 'events.log')]
  const samples = await runSonde(['traceback', '-d', `file:${pipe}`, '--rules', rules, ...log])
  const ends = await Promise.all([...waiting, [...traceback, '--compat']].map((words) => runSonde(words)))
  for (const { code, output } of ends.slice(0, -1)) {
    assert.match(output, /^sonde: [^\n]*it is a pipe that gave nothing within 5000 ms\n$/)
    assert.equal(code, 2, output)
  }
  assert.match(ends.at(-1)?.output ?? '', /pipe is no regular file\n$/)
  assert.match(samples.output, /it is no regular file\n$/)
  const writing = ['sh', '-c', 'printf "log: { level: fatal }" | "$@"', 'sh']
  const { code, output } = await runSonde(['config', '--config', '/dev/stdin'], { under: writing })
  assert.equal(code, 0, output)
  assert.match(output, /level: fatal +# \/dev\/stdin:1/)
})
