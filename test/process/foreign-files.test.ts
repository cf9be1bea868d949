// As root: libraries, configuration and data that another user owns, or can write.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { needs } from '../debian.ts'
import { AS_ROOT, OTHER_USER } from '../other-user.ts'
import { runSonde, temporaryDir } from '../sonde-process.ts'

const LISTEN = ['--listen', '127.0.0.1:0']

function folder(t: TestContext): string {
  const { path, remove } = temporaryDir()
  t.after(remove)
  return path
}

/** A folder with libraries named as DOCA's, whose code leaves a file behind as soon as they are loaded. */
function trap(t: TestContext): { readonly libraries: string; readonly config: string; readonly sprung: string } {
  const dir = folder(t)
  const sprung = join(dir, 'sprung')
  const libraries = join(dir, 'lib')
  mkdirSync(libraries)
  writeFileSync(
    join(dir, 'trap.c'),
    `#include <fcntl.h>
__attribute__((constructor)) static void spring(void) { creat("${sprung}", 0600); }`,
  )
  for (const name of ['libdoca_telemetry.so.2', 'libdoca_common.so.2'])
    execFileSync('cc', ['-shared', '-fPIC', '-o', join(libraries, name), join(dir, 'trap.c')])
  const config = join(dir, 'sonde.yaml')
  writeFileSync(
    config,
    `native: { doca_library: ${libraries} }\ndata_sources: [{ type: doca_telemetry_diag, accept_taint: true }]\n`,
  )
  return { libraries, config, sprung }
}

test('check runs no code of a vendor, unless it is told to load libraries', needs('cc'), async (t) => {
  const { config, sprung } = trap(t)
  const args = ['check', '--config', config, ...LISTEN]
  const looked = await runSonde(args)
  assert.match(looked.output, /^doca_telemetry_diag +present +\S+libdoca_telemetry\.so\.2; --probe loads it/m)
  assert.equal(looked.code, 0, looked.output)
  assert.equal(existsSync(sprung), false)
  await runSonde([...args, '--probe'])
  assert.equal(existsSync(sprung), true, 'the trap works')
})

test('root loads no library that another user owns, can write, or can exchange, unless that owner is trusted', {
  ...needs('cc'),
  ...(AS_ROOT.skip === false ? {} : AS_ROOT),
}, async (t) => {
  const { libraries, config, sprung } = trap(t)
  const library = join(libraries, 'libdoca_telemetry.so.2')
  const commands = [
    ['check', '--probe', ...LISTEN],
    ['agent', ...LISTEN],
    ['up', ...LISTEN],
    ['traceback', '-d', 'mlx5_0', '--rules', join(folder(t), 'rules.json')],
  ]
  writeFileSync(
    commands[3]?.[4] ?? '',
    JSON.stringify({
      'data-ids': [{ name: 'a', data_id: '0x1020000100000000' }],
      sample_history_depth: 1,
      diag_sample_period_ns: 100_000,
      rules: [{ name: 'r', data_id: '0x1020000100000000', comparison_type: 'dt_gt', comparison_value: 1 }],
    }),
  )
  const refusal = async (command: readonly string[]) => {
    const { code, output } = await runSonde([...command, '--config', config])
    assert.deepEqual([code, output.split('\n').length], [2, 2], output)
    assert.equal(existsSync(sprung), false)
    return output
  }
  chownSync(library, OTHER_USER, OTHER_USER)
  for (const command of commands)
    assert.equal(
      await refusal(command),
      `sonde: library ${library} is not loaded: it belongs to user ${OTHER_USER}, and root loads only its own files; chown it, or allow that owner with --trust-owner ${OTHER_USER}\n`,
    )
  const explained = await runSonde(['explain', 'doca_telemetry_diag', '--config', config, '--listen', '127.0.0.1:1'])
  assert.match(
    explained.output,
    /✗ library .*\n +came back: it belongs to user 65534, and root loads only its own files\n/,
  )
  const [command = []] = commands
  await runSonde([...command, '--config', config, '--trust-owner', '7', '--trust-owner', `${OTHER_USER}`])
  assert.equal(existsSync(sprung), true, 'it is trusted')
  rmSync(sprung)
  const wrong = await runSonde([...command, '--config', config, '--trust-owner', 'root'])
  assert.deepEqual(wrong, { code: 2, output: 'sonde: --trust-owner is "root"; allowed: the number of a user\n' })
  chownSync(library, 0, 0)
  chmodSync(library, 0o775)
  assert.match(
    await refusal(command),
    /libdoca_telemetry\.so\.2 is not loaded: it can be written by others; .*chmod go-w/,
  )
  chmodSync(library, 0o755)
  chownSync(libraries, OTHER_USER, OTHER_USER)
  assert.match(await refusal(command), new RegExp(`${libraries} belongs to user ${OTHER_USER}`))
  chownSync(libraries, 0, 0)
  chmodSync(libraries, 0o777)
  assert.match(await refusal(command), new RegExp(`${libraries} can be written by others`))
  // As the folder for temporary files: everybody makes files there, and nobody replaces another's.
  chmodSync(libraries, 0o1777)
  await runSonde([...command, '--config', config])
  assert.equal(existsSync(sprung), true, 'it is sound again')
})

test('root takes no configuration of another user, by no way that this user made', AS_ROOT, async (t) => {
  const dir = folder(t)
  const file = join(dir, 'sonde.yaml')
  writeFileSync(file, 'log: { level: warn }\n')
  const config = async (path: string, ...args: readonly string[]) => {
    const { code, output } = await runSonde(['config', '--config', path, ...args])
    return code === 0 ? 'taken' : `${code} ${output.trimEnd()}`
  }
  assert.equal(await config(file), 'taken')
  chownSync(file, OTHER_USER, OTHER_USER)
  assert.match(
    await config(file),
    new RegExp(`^2 sonde: --config ${file} is not read: it belongs to user 65534, .*\\S$`),
  )
  assert.equal(await config(file, '--trust-owner', `${OTHER_USER}`), 'taken')
  chownSync(file, 0, 0)
  const link = join(folder(t), 'link')
  symlinkSync(file, link)
  assert.equal(await config(link), 'taken')
  execFileSync('chown', ['-h', `${OTHER_USER}`, link])
  assert.match(await config(link), /^2 .*it belongs to user 65534/)
  chmodSync(dir, 0o777)
  assert.match(await config(file), new RegExp(`^2 .*${dir} can be written by others`))
})

test('data may also belong to the user who called sudo, and to nobody else', AS_ROOT, async (t) => {
  const labels = join(folder(t), 'labels')
  writeFileSync(labels, 'rack=r1\n')
  chownSync(labels, OTHER_USER, OTHER_USER)
  const check = (env: Record<string, string>) =>
    runSonde(['check', '--only-simulated', '--simulate', ...LISTEN], { env: { ...env, CLX_METADATA_FILE: labels } })
  const refused = await check({ SUDO_UID: '1000' })
  assert.equal(refused.code, 2)
  assert.match(
    refused.output,
    /labels belongs to user 65534, and root loads only its own files; .*--trust-owner 65534\n$/,
  )
  const taken = await check({ SUDO_UID: `${OTHER_USER}`, SUDO_GID: `${OTHER_USER}` })
  assert.equal(taken.code, 0, taken.output)
  assert.equal((await check({ SONDE_TRUST_OWNER: `7,${OTHER_USER}` })).code, 0)
  const mistyped = await check({ SONDE_TRUST_OWNER: `${OTHER_USER},abc` })
  assert.equal(mistyped.code, 2)
  assert.match(mistyped.output, /^sonde: SONDE_TRUST_OWNER is "abc"; allowed: the number of a user\n$/)
  chmodSync(labels, 0o666)
  assert.match((await check({ SUDO_UID: `${OTHER_USER}` })).output, /labels can be written by others/)
})
