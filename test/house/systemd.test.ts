import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '../../packages/cli/src/config/load.ts'
import { root } from '../../scripts/check/sources.ts'
import { needs } from '../debian.ts'
import { temporaryDir } from '../sonde-process.ts'

const FOLDER = join(root, 'deploy/systemd')
/** Most exposure that `systemd-analyze security` may find, in tenths: up to 2.9 is "OK". */
const EXPOSURE_MAX = 25

test('systemd accepts the unit, and finds little exposure', needs('systemd-analyze'), (t) => {
  const dir = temporaryDir()
  t.after(dir.remove)
  // The program is not installed on a machine of tests.
  const unit = readFileSync(join(FOLDER, 'sonde.service'), 'utf8').replace('/usr/bin/sonde', process.execPath)
  const file = join(dir.path, 'sonde.service')
  writeFileSync(file, unit)
  const verified = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
  assert.deepEqual([verified.status, verified.stderr], [0, ''])
  const limit = ['--offline=true', `--threshold=${EXPOSURE_MAX}`]
  const rated = spawnSync('systemd-analyze', ['security', ...limit, file], { encoding: 'utf8' })
  assert.equal(rated.status, 0, rated.stdout + rated.stderr)
})

test('the configuration of the unit is accepted', () => {
  const { plain } = loadConfig({ file: join(FOLDER, 'sonde.yaml'), environment: { PROMETHEUS_PORT: '9394' } })
  assert.equal((plain.service as { sockets_dir: string }).sockets_dir, '/run/sonde')
})
