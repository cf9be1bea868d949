// The alerts of deploy/prometheus/rules: their form, their tests with promtool, their texts, and their routes.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { needs } from '../debian.ts'
import { temporaryDir } from '../sonde-process.ts'
import { RULES_FOLDER, type Rule, type RuleTest, rulesOf, testsOf } from './rule-files.ts'

/** Files whose tests are written by hand: a fault for each alert, and a look-alike. */
const WRITTEN = ['gpu', 'rdma', 'sonde']
/** Alerts about something that is missing. */
const WITHOUT_NUMBER = ['GpuLost', 'GpuCountersStuck']
const ROUTES = fileURLToPath(new URL('../alertmanager.yml', RULES_FOLDER))

const files = readdirSync(RULES_FOLDER).flatMap((name) => /^(\w+)\.yaml$/.exec(name)?.[1] ?? [])
const alertsOf = (file: string) => rulesOf(file).filter((rule): rule is Rule & { alert: string } => 'alert' in rule)

test('each alert waits, has a severity and a component, texts with a number, and an existing runbook', () => {
  for (const { alert, labels, annotations = {}, ...rule } of files.flatMap(alertsOf)) {
    assert.match(rule.for ?? '', /^\d+m$/, alert)
    assert.match(labels?.severity ?? '', /^(info|warning|critical)$/, alert)
    assert.match(labels?.component ?? '', /^\w+$/, alert)
    assert.deepEqual(Object.keys(annotations), ['summary', 'description', 'runbook_url'], alert)
    if (!WITHOUT_NUMBER.includes(alert)) assert.match(annotations.description ?? '', /\$value/, alert)
    const page = new URL(`../../docs/runbooks/${alert}.md`, import.meta.url)
    assert.match(readFileSync(page, 'utf8'), new RegExp(`^# ${alert}\n`))
    // A label that the alert sets hides that of its series.
    assert.doesNotMatch(JSON.stringify(annotations), /\$labels\.(component|severity)/, alert)
  }
})

test('rules compare rates and increases of counters, and where a counter is new', () => {
  for (const { expr } of files.flatMap((file) => rulesOf(file))) {
    const rest = expr.replace(/\b(\w+_total)(\{[^}]*\})?\s*(\[|unless \1 offset)/g, '')
    // A counter on the right of `and on` only says that the device was there.
    assert.doesNotMatch(rest.replace(/and on \([^)]*\)\s*\w+_total/g, ''), /_total\b/, expr)
  }
})

test('each runbook is that of an alert, and the list of runbooks has each alert once', () => {
  const alerts = [...new Set(files.flatMap(alertsOf).map(({ alert }) => alert))].sort()
  const folder = new URL('../../docs/runbooks/', import.meta.url)
  const pages = readdirSync(folder).map((name) => name.replace(/\.md$/, ''))
  assert.deepEqual(pages.filter((name) => name !== 'README').sort(), alerts)
  const list = readFileSync(new URL('README.md', folder), 'utf8')
  const rows = Array.from(list.matchAll(/^\| \[`(\w+)`\]\(\1\.md\) \| ([\w, ]+) \|/gm), ([, name, severities]) => {
    return `${name}: ${severities}`
  })
  const severitiesOf = (name: string) => {
    const all = files.flatMap(alertsOf).filter(({ alert }) => alert === name)
    return [...new Set(all.map(({ labels }) => labels?.severity))].sort().join(', or ')
  }
  assert.deepEqual(
    rows.sort(),
    alerts.map((name) => `${name}: ${severitiesOf(name)}`),
  )
})

test('each alert has a fault that fires it, and a look-alike that does not', () => {
  for (const file of WRITTEN) {
    const fired = new Set(testsOf(file).flatMap(firedBy))
    const silent = testsOf(file).flatMap(({ name }) => /^(\w+) is silent: /.exec(name)?.[1] ?? [])
    for (const { alert, labels } of alertsOf(file)) {
      assert.ok(fired.has(`${alert} ${labels?.severity}`), `${alert} ${labels?.severity} never fires`)
      assert.ok(silent.includes(alert), `${alert} has no look-alike`)
    }
  }
  for (const ruleTest of WRITTEN.flatMap(testsOf)) {
    const [, alert = '', verb = ''] = /^(\w+) (fires|is silent): /.exec(ruleTest.name) ?? []
    assert.equal(firedBy(ruleTest).join().includes(alert), verb === 'fires', ruleTest.name)
  }
})

describe('with promtool', needs('promtool'), () => {
  const run = (...args: string[]) => execFileSync('promtool', args, { cwd: fileURLToPath(RULES_FOLDER) })

  test('the rules are valid, their faults fire them, and their look-alikes do not', () => {
    run('check', 'rules', ...files.map((file) => `${file}.yaml`))
    run('test', 'rules', ...WRITTEN.map((file) => `tests/${file}.yaml`))
  })

  test('the texts of fired alerts have all their labels and numbers', (t) => {
    const dir = temporaryDir()
    t.after(dir.remove)
    for (const file of WRITTEN) {
      const got = textsOf(file, join(dir.path, `${file}.yaml`))
      const missing = alertsOf(file).filter(({ alert }) => !got.includes(`alertname="${alert}"`))
      assert.deepEqual(missing, [], `${file}: no texts`)
      assert.doesNotMatch(got, /error expanding|no value|summary="[^"]*(?: {2}|on (?:is|does|runs|"))/)
    }
  })
})

test('Alertmanager takes the routes, and sends each severity to its receiver', needs('prometheus-alertmanager'), () => {
  const amtool = (...args: string[]) => execFileSync('amtool', args, { encoding: 'utf8', stdio: 'pipe' }).trim()
  amtool('check-config', ROUTES)
  const receivers = {
    'severity=critical': 'on-call',
    'severity=critical simulated=true': 'simulated',
    'severity=warning': 'team',
    'severity=info': 'owners',
    'severity=info namespace=ml': 'owners',
  }
  for (const [labels, receiver] of Object.entries(receivers))
    assert.equal(amtool('config', 'routes', 'test', `--config.file=${ROUTES}`, ...labels.split(' ')), receiver)
  // An inhibition that names an alert which does not exist would never act.
  const alerts = files.flatMap(alertsOf).map(({ alert }) => alert)
  for (const [, pattern = ''] of readFileSync(ROUTES, 'utf8').matchAll(/alertname=~?"([^"]+)"/g))
    for (const part of pattern.split('|'))
      assert.ok(
        alerts.some((alert) => new RegExp(`^(?:${part})$`).test(alert)),
        part,
      )
})

/** What fires at the end of a test: `NAME severity`. */
function firedBy({ promql_expr_test: [query] }: RuleTest): string[] {
  return (query?.exp_samples ?? []).map(({ labels }) => {
    const [, alert, severity] = /alertname="(\w+)",severity="(\w+)"/.exec(labels) ?? []
    return `${alert} ${severity}`
  })
}

/**
 * The alerts of all faults of a file, with their texts: promtool prints them if none was expected. Each fault happens
 * on a node of its own, in one test.
 */
function textsOf(file: string, path: string): string {
  const firing = testsOf(file).filter((ruleTest) => firedBy(ruleTest).length > 0)
  const series = firing.flatMap(({ input_series }, at) =>
    input_series.map(({ series: name, values }) => ({
      series: name.replace(/instance="(\w+)"/, `instance="$1-${at}"`).replace(/UUID="(\w+)"/, `UUID="$1-${at}"`),
      values,
    })),
  )
  const expected = firing.flatMap((ruleTest) =>
    firedBy(ruleTest).map((alert) => ({
      eval_time: ruleTest.promql_expr_test[0]?.eval_time,
      alertname: alert.split(' ')[0],
      exp_alerts: [],
    })),
  )
  const tests = [{ interval: '1m', input_series: series, alert_rule_test: expected }]
  const rules = fileURLToPath(new URL(`${file}.yaml`, RULES_FOLDER))
  // JSON is YAML too.
  writeFileSync(path, JSON.stringify({ rule_files: [rules], evaluation_interval: '1m', tests }))
  const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', path], { encoding: 'utf8' })
  return stdout + stderr
}
