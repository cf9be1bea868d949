import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '../../config/config-error.ts'
import { tracebackSettings } from './options.ts'

test('without names, rules are read from rules.json and events are written to events.log, of the folder', () => {
  const { rulesPath, file } = tracebackSettings({ device: 'mlx5_0' })
  assert.deepEqual([rulesPath, file.path], ['rules.json', 'events.log'])
  const named = tracebackSettings({ device: 'mlx5_0', rules: '/etc/r.json', 'event-log': 'out/e.log' })
  assert.deepEqual([named.rulesPath, named.file.path], ['/etc/r.json', 'out/e.log'])
})

test('an empty name is refused, and not replaced by the default', () => {
  assert.throws(
    () => tracebackSettings({ device: 'mlx5_0', rules: '', 'event-log': '' }),
    (error: unknown) => error instanceof ConfigError && /--rules is empty.*--event-log is empty/s.test(error.message),
  )
})
