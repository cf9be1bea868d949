import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runSonde, startSonde, temporaryDir, until } from '../sonde-process.ts'

const RULE = { name: 'busy', signal: 'load', comparison_type: 'gt', comparison_value: 1, activate_samples: 1 }
const SIGNAL = { name: 'load', type: 'my_app', field: 'load' }

function ruleFileText(rule: object): string {
  return JSON.stringify({ sample_history_depth: 2, signals: [SIGNAL], rules: [rule] })
}

test('check tells every fault of the rules, and who keeps events in their folder', async (t) => {
  const { path: dir, remove } = temporaryDir()
  t.after(remove)
  const [rules, events, config] = ['rules.json', 'events', 'sonde.yaml'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(
    config,
    `data_sources: []\nstore: { enabled: false }\ntraceback: { rules: '${rules}', dir: '${events}' }\n`,
  )
  const args = ['--config', config, '--listen', '127.0.0.1:0']
  const check = () => runSonde(['check', ...args])
  writeFileSync(rules, ruleFileText({ ...RULE, comparison_type: 'gtt', colour: 1 }))
  const wrong = await check()
  assert.equal(wrong.code, 1, wrong.output)
  assert.match(
    wrong.output,
    /^rules +damaged +.*rules\.json: rules\[0\]\.comparison_type is "gtt".*allowed: one of gt/m,
  )
  assert.match(wrong.output, /^rules +damaged +.*rules\.json: rules\[0\]\.colour is an unknown key/m)
  writeFileSync(rules, ruleFileText(RULE))
  const sound = await check()
  assert.equal(sound.code, 0, sound.output)
  assert.match(sound.output, /^rules +ok +.*rules\.json, 1 rule on 1 signal$/m)
  assert.match(sound.output, /^events +(absent|short) /m)
  mkdirSync(events)
  const sonde = await startSonde(['agent', ...args])
  t.after(() => sonde.stop())
  const held = await until('the lock of the folder', 20_000, async () => {
    const told = await check()
    return told.code === 1 ? told.output : undefined
  })
  assert.match(held, /^events +taken +another process keeps its events in /m)
})
