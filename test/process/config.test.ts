import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SOURCES } from '../../packages/agent/src/sources/registry.ts'
import { ConfigError } from '../../packages/cli/src/config/config-error.ts'
import type { Flags } from '../../packages/cli/src/flags.ts'
import { loadFor } from '../../packages/cli/src/load-for.ts'
import { runSonde, startSonde, temporaryDir } from '../sonde-process.ts'
import { SONDE_MAIN } from '../sonde-program.ts'

/** A user whom no table of users names. */
const NOBODY = ['setpriv', '--reuid=54321', '--regid=54321', '--clear-groups']
const AS_NOBODY = {
  skip:
    spawnSync('setpriv', [...NOBODY.slice(1), 'test', '-r', SONDE_MAIN]).status !== 0 &&
    'only root can be another user',
}
const KINDS = SOURCES.map(({ name }) => name).join(', ')
const PORT_ALLOWED = 'a whole number from 0 to 65535 (0 is any free port)'

function directory(test: TestContext): string {
  const { path, remove } = temporaryDir()
  test.after(remove)
  return path
}

/** A configuration file with this text. */
function fileWith(test: TestContext, text: string): string {
  const file = join(directory(test), 'sonde.yaml')
  writeFileSync(file, text)
  return file
}

/** The lines of a refused configuration, without the path of the file. The command is not started for each. */
function refusals(file: string | undefined, flags: Flags = {}, env: Record<string, string> = {}): readonly string[] {
  const given = { SONDE_CONFIG: '', ...env }
  const before = Object.keys(given).map((name) => [name, process.env[name]] as const)
  Object.assign(process.env, given)
  try {
    loadFor({ ...(file !== undefined && { config: file }), ...flags })
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error))
    return error.lines.map((line) => line.replace(`${file}`, 'FILE'))
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
  assert.fail('it is not refused')
}

/** The lines of a command that must end with exit code 2, without its name. */
async function refusalsOfCommand(...args: readonly string[]) {
  const { code, output } = await runSonde(['config', ...args])
  assert.equal(code, 2, output)
  const lines = output.trimEnd().split('\n')
  for (const line of lines) assert.match(line, /^sonde: \S/)
  return lines.map((line) => line.slice('sonde: '.length))
}

test('prints every value with its origin: command line over environment over file over default', async (t) => {
  const file = fileWith(t, 'log:\n  level: warn\nexport:\n  prometheus:\n    port: 1001\n    path: /m\n    host: ::1\n')
  const env = {
    SONDE_EXPORT_PROMETHEUS_PORT: '1002',
    SONDE_LOG_LEVEL: 'error',
    SONDE_EXPORT_PROMETHEUS_ALLOWED_HOSTS: 'a.example, b',
  }
  const { code, output } = await runSonde(['config', '--config', file, '--listen', ':1003', '--data-dir', '/d'], {
    env,
  })
  assert.equal(code, 0, output)
  const line = (key: string) =>
    output
      .split('\n')
      .find((text) => text.trimStart().startsWith(`${key}:`))
      ?.trim()
      .replace(/ +#/, ' #')
  assert.equal(line('port'), 'port: 1003 # --listen')
  assert.equal(line('level'), 'level: error # SONDE_LOG_LEVEL')
  assert.equal(line('allowed_hosts'), 'allowed_hosts: [a.example, b] # SONDE_EXPORT_PROMETHEUS_ALLOWED_HOSTS')
  assert.equal(line('path'), `path: /m # ${file}:6`)
  assert.equal(line('dir'), 'dir: /d # --data-dir')
  assert.equal(line('procfs'), 'procfs: /proc # default')
  assert.equal(line('host'), `host: ::1 # ${file}:7`)
})

test('keeps what is switched off in sight', async (t) => {
  const file = fileWith(t, 'data_sources:\n  - { type: netdev, name: nics, enabled: false }\n')
  const { output } = await runSonde(['config', '--config', file])
  assert.match(output, /name: nics +# .*:2\n +enabled: false +# .*:2/)
})

test('takes a file whose blocks have no content yet', async (t) => {
  for (const text of ['', '# nothing\n', 'export:\n  prometheus:\nlog:\ndata_sources:\n']) {
    const { code, output } = await runSonde(['config', '--config', fileWith(t, text)])
    assert.equal(code, 0, output)
  }
})

test('names file, line, key path, value and what is allowed, for every wrong place at once', async (t) => {
  const file = fileWith(
    t,
    `data_sources:
  - type: netdev
    devices: ["eth 0"]
    intervall_ms: 5
  - type: gpu
  - name: x
  - type: host
    interval_ms: 1.5
  - netdev
export:
  prometheus:
    port: 70000
    timestamps: "yes"
stor: {}
limits: 5
`,
  )
  const lines = refusals(file)
  const printed = await refusalsOfCommand('--config', file)
  assert.deepEqual(
    printed.map((line) => line.replace(file, 'FILE')),
    lines,
  )
  assert.deepEqual([...lines].sort(), [
    'FILE:12: export.prometheus.port is 70000; allowed: a whole number from 0 to 65535 (0 is any free port)',
    'FILE:13: export.prometheus.timestamps is "yes"; allowed: true or false',
    'FILE:14: stor is an unknown key, with {} (did you mean store?); allowed: data_sources, paths, native, export, service, traceback, store, console, access, kubernetes, limits, log',
    'FILE:15: limits is 5; allowed: a block with the keys recent_window_s, recent_bytes, connections, stream_clients, stream_queries_per_s, parallel_queries, gpu_metrics_max_pods, gpu_metrics_max_concurrent, gpu_metrics_max_cells, source_call_ms, source_flood_bytes',
    'FILE:3: data_sources[0].devices[0] is "eth 0"; allowed: a device name or pattern such as eth0, mlx5_* or !veth*',
    'FILE:4: data_sources[0].intervall_ms is an unknown key, with 5 (did you mean interval_ms?); allowed: type, name, enabled, interval_ms, devices',
    `FILE:5: data_sources[1].type is "gpu"; allowed: one of ${KINDS}`,
    `FILE:6: data_sources[2].type is missing; allowed: one of ${KINDS}`,
    'FILE:8: data_sources[3].interval_ms is 1.5; allowed: a whole number from 10 to 3600000 (milliseconds)',
    'FILE:9: data_sources[4] is "netdev"; allowed: a block with the key type',
  ])
})

test('refuses two sources of one name, given or by default', (t) => {
  const file = fileWith(t, 'data_sources:\n  - type: netdev\n  - type: host\n    name: netdev\n  - type: netdev\n')
  assert.deepEqual(refusals(file), [
    'FILE:4: data_sources[1].name is "netdev", as data_sources[0] has it; allowed: a name of its own',
    'FILE:5: data_sources[2].name is "netdev", as data_sources[1] has it; allowed: a name of its own',
  ])
})

test('refuses a file that is no sound YAML, with the line of each fault', (t) => {
  const doubled = 'log:\n  level: info\n  level: warn\nexport:\n  prometheus:\n    port: 1\n    port: 2\n'
  assert.deepEqual(refusals(fileWith(t, doubled)), [
    'FILE:3: log.level is there a second time; allowed: every key once',
    'FILE:7: export.prometheus.port is there a second time; allowed: every key once',
  ])
  const [fault = '', ...more] = refusals(fileWith(t, `${doubled}limits: [\n`))
  assert.match(fault, /^FILE:9: the line is not indented .* or a \[ or \{ is not closed; allowed: /)
  assert.deepEqual(more, [], 'nothing is shown of a file before it is YAML')
})

test('refuses a file that cannot be read, also one that the environment names', (t) => {
  const missing = join(directory(t), 'missing.yaml')
  assert.deepEqual(refusals(missing), ['FILE: the file cannot be read: no such file or directory'])
  const folder = directory(t)
  assert.deepEqual(refusals(folder), ['FILE: the file cannot be read: illegal operation on a directory'])
  assert.deepEqual(refusals('/dev/zero'), ['FILE: the file is larger than 1048576 bytes'])
  assert.deepEqual(refusals(undefined, {}, { SONDE_CONFIG: missing }), [
    `${missing}: the file cannot be read: no such file or directory`,
  ])
})

test('refuses what the environment gives wrong, and a variable that is misspelt', async () => {
  assert.deepEqual(refusals(undefined, {}, { SONDE_EXPORT_PROMETHEUS_PORT: 'http', SONDE_STORE_ENABLED: 'on' }), [
    `SONDE_EXPORT_PROMETHEUS_PORT: export.prometheus.port is "http"; allowed: ${PORT_ALLOWED}`,
    'SONDE_STORE_ENABLED: store.enabled is "on"; allowed: true or false',
  ])
  assert.deepEqual(refusals(undefined, {}, { SONDE_LOG_LEVLE: 'info' }), [
    'SONDE_LOG_LEVLE is no setting; did you mean SONDE_LOG_LEVEL?',
  ])
  // Kubernetes makes such variables for a service named sonde.
  const { code } = await runSonde(['config'], {
    env: { SONDE_SERVICE_HOST: '10.0.0.1', SONDE_PORT: 'tcp://10.0.0.1:9394' },
  })
  assert.equal(code, 0)
})

test('refuses what the command line gives wrong', async () => {
  assert.deepEqual(refusals(undefined, { listen: 'localhost' }), [
    '--listen is "localhost"; allowed: host:port, [IPv6]:port, :port or a port',
  ])
  assert.deepEqual(refusals(undefined, { listen: ':65536' }), [`--listen is 65536; allowed: ${PORT_ALLOWED}`])
  assert.deepEqual(refusals(undefined, { logLevel: 'loud' }), [
    '--log-level is "loud"; allowed: one of fatal, error, warn, info, debug, trace',
  ])
  for (const args of [['--liste', ':0'], ['more'], ['--config']]) await refusalsOfCommand(...args)
})

test('starts nothing where the configuration is wrong: no port, no directory', async (t) => {
  const home = directory(t)
  const dataDir = join(home, 'data')
  const probe = createServer()
  const port = await new Promise<number>((resolve) => {
    probe.listen(0, '127.0.0.1', () => resolve((probe.address() as { port: number }).port))
  })
  t.after(() => probe.close())
  const file = fileWith(t, `store:\n  dir: ${dataDir}\n  retention_days: 0\n`)
  // Listening would fail on the port, with another exit code and another line.
  const listen = ['--listen', `127.0.0.1:${port}`]
  const env = { HOME: home, XDG_STATE_HOME: home, XDG_RUNTIME_DIR: home }
  for (const command of ['up', 'agent', 'check']) {
    const { code, output } = await runSonde([command, '--config', file, ...listen], { env })
    assert.equal(code, 2, output)
    assert.equal(output, `sonde: ${file}:3: store.retention_days is 0; allowed: a whole number from 1 to 3650 (days)\n`)
  }
  assert.deepEqual(readdirSync(home), [])
})

test('prints a JSON Schema that knows every key', async () => {
  const [schema, config] = await Promise.all([runSonde(['config', '--schema']), runSonde(['config'])])
  assert.equal(schema.code, 0, schema.output)
  const { properties, additionalProperties } = JSON.parse(schema.output)
  assert.deepEqual(
    Object.keys(properties),
    [...config.output.matchAll(/^(\w+):/gm)].map(([, key]) => key),
  )
  assert.equal(additionalProperties, false)
})

test('finds sonde.yaml in the place of the user', async (t) => {
  const home = directory(t)
  mkdirSync(join(home, 'sonde'))
  writeFileSync(join(home, 'sonde/sonde.yaml'), 'log: { level: fatal }\n')
  const { code, output } = await runSonde(['config'], { env: { SONDE_CONFIG: undefined, XDG_CONFIG_HOME: home } })
  assert.equal(code, 0, output)
  assert.match(output, new RegExp(`level: fatal +# ${home}/sonde/sonde.yaml:1`))
})

test('check says whether the configuration is sound and what each source would find', async (t) => {
  const file = fileWith(t, 'data_sources:\n  - { type: netdev, name: nics }\n  - { type: host, enabled: false }\n')
  const here = ['--listen', '127.0.0.1:0', '--data-dir', directory(t)]
  const good = await runSonde(['check', '--config', file, ...here])
  assert.equal(good.code, 0, good.output)
  assert.match(
    good.output,
    new RegExp(`^configuration +ok +${file}\nlistener .*\nevents .*\nhistory .*\nnics +present +\\d+ interface`),
  )
  assert.doesNotMatch(good.output, /^host/m)
  const empty = directory(t)
  const absent = await runSonde(['check', '--path.procfs', empty, '--path.sysfs', empty, ...here])
  assert.equal(absent.code, 0, absent.output)
  assert.match(absent.output, /^netdev +absent +\S.{10}/m)
})

test('check says whether another Sonde has the history, and whether it can be kept at all', async (t) => {
  const dir = directory(t)
  const sonde = await startSonde(['up', '--data-dir', dir])
  t.after(() => sonde.stop('SIGKILL'))
  const historyIn = async (place: string) => {
    const { code, output } = await runSonde(['check', '--data-dir', place, '--listen', '127.0.0.1:0'])
    return `${code} ${output.split('\n').find((line) => line.startsWith('history'))}`
  }
  assert.match(await historyIn(dir), /^1 history +taken +\S+store\.db is open in another process; stop that process/)
  assert.equal((await fetch(`${sonde.address}/healthz`)).status, 200)
  assert.equal(await sonde.stop(), 0)
  assert.match(await historyIn(dir), /^0 history +present +\S+store\.db, /)
  assert.match(
    await historyIn('/proc/x'),
    /^1 history +denied +.*\/proc.*; give store\.dir, or --data-dir, another folder$/,
  )
})

test('a user without a home, as in a container, runs it; history has the place of the system', AS_NOBODY, async (t) => {
  const env = { HOME: undefined, XDG_STATE_HOME: undefined, XDG_CONFIG_HOME: undefined, SONDE_CONFIG: undefined }
  const sonde = await startSonde(['up'], { under: NOBODY, env })
  t.after(() => sonde.stop('SIGKILL'))
  assert.match(sonde.output(), /ready on .* · history (in|FAILING:) \/var\/lib\/sonde\/store\.db/)
  assert.equal(await sonde.stop(), 0)
})

test('check reads the field sets, and says of each that cannot be used where and why', async (t) => {
  const sets = directory(t)
  const here = ['--listen', '127.0.0.1:0', '--data-dir', directory(t)]
  const env = { PROMETHEUS_FSET_DIR: sets }
  writeFileSync(join(sets, 'a.cset'), '^netdev')
  const good = await runSonde(['check', ...here], { env })
  assert.equal(good.code, 0, good.output)
  assert.match(good.output, /^field sets +ok +1 file$/m)
  writeFileSync(join(sets, 'b.fset'), '[host]\nload^1')
  const bad = await runSonde(['check', ...here], { env })
  assert.equal(bad.code, 1, bad.output)
  assert.match(bad.output, new RegExp(`^field sets +damaged +${sets}/b.fset:2:5 is \\^ inside a token; allowed: `, 'm'))
  const none = await runSonde(['check', ...here], { env: { PROMETHEUS_CSET_DIR: join(sets, 'none') } })
  assert.equal(none.code, 1, none.output)
  assert.match(none.output, new RegExp(`^field sets +damaged +folder ${sets}/none of field sets is not there`, 'm'))
})

test('check says whether the folders of sockets and of files can be used, and makes neither', async (t) => {
  const home = directory(t)
  const ask = async (service: string, files: string) => {
    const file = fileWith(
      t,
      `service: { sockets_dir: ${service} }\nexport: { files: { enabled: true, data_root: ${files} } }\n`,
    )
    const env = { SONDE_SERVICE_ENABLED: 'true', SONDE_STORE_DIR: home }
    const command = ['check', '--config', file, '--listen', '127.0.0.1:0']
    const { code, output } = await runSonde(command, { env })
    const [socketsRow = '', filesRow = ''] = output.split('\n').filter((line) => /^(service|files) /.test(line))
    return { code, rows: [socketsRow, filesRow].map((row) => row.replace(/ +/g, ' ').replace(/[\d.]+ GiB/, 'N GiB')) }
  }
  assert.deepEqual(await ask(`${home}/run/sockets`, `${home}/deep/data`), {
    code: 0,
    rows: [
      `service absent ${home}/run/sockets is made at the start`,
      `files absent ${home}/deep/data is made with the first record, N GiB are free`,
    ],
  })
  assert.deepEqual(readdirSync(home), [])
  mkdirSync(join(home, 'data'))
  mkdirSync(join(home, 'open'))
  chmodSync(join(home, 'open'), 0o777)
  assert.deepEqual(await ask(`${home}/open`, `${home}/data`), {
    code: 1,
    rows: [
      `service denied ${home}/open is writable by everybody, so any user could place another socket there; give service.sockets_dir a folder of this user's own`,
      `files present ${home}/data, N GiB are free`,
    ],
  })
  writeFileSync(join(home, 'file'), '')
  assert.deepEqual(await ask(`${home}/data`, `${home}/file/data`), {
    code: 1,
    rows: [
      `service present ${home}/data`,
      `files denied ENOTDIR: not a directory, lstat '${home}/file/data'; give export.files.data_root another folder`,
    ],
  })
  assert.deepEqual(readdirSync(join(home, 'data')), [])
})

test('a label file with a fault in it is refused by what would read it, with file and line', async (t) => {
  const file = join(directory(t), 'labels.ini')
  writeFileSync(file, '[global_labels]\nrack\n')
  for (const command of ['up', 'agent', 'check']) {
    const { code, output } = await runSonde([command, '--listen', '127.0.0.1:0'], { env: { CLX_METADATA_FILE: file } })
    assert.equal(code, 2, output)
    const key = `CLX_METADATA_FILE: export.prometheus.metadata_file is "${file}"`
    assert.equal(output, `sonde: ${key}: ${file}:2: it has no name before =; allowed: name=value\n`)
  }
})

test('a root that was given and is no directory is refused by what would read it, and by nothing else', async (t) => {
  const missing = join(directory(t), 'proc')
  const file = fileWith(t, `paths:\n  procfs: ${missing}\n`)
  const listen = ['--listen', '127.0.0.1:0']
  for (const command of ['up', 'agent', 'check']) {
    const { code, output } = await runSonde([command, '--config', file, '--path.sysfs', file, ...listen])
    assert.equal(code, 2, output)
    assert.deepEqual(output.trimEnd().split('\n'), [
      `sonde: ${file}:2: paths.procfs is "${missing}", and no directory is there; allowed: a directory`,
      `sonde: --path.sysfs: paths.sysfs is "${file}", and no directory is there; allowed: a directory`,
    ])
  }
  assert.equal((await runSonde(['config', '--config', file])).code, 0)
})

test('every help fits a screen', async () => {
  const asked = [
    ['--help'],
    ['-h'],
    ['help', 'up'],
    ...['up', 'agent', 'config', 'check', 'console', 'explain', 'manifests', 'read', 'traceback'].map((name) => [
      name,
      '--help',
    ]),
  ]
  for (const args of asked) {
    const { code, output } = await runSonde(args)
    assert.equal(code, 0, output)
    const lines = output.trimEnd().split('\n')
    assert.ok(lines.length <= 24, `${args.join(' ')}: ${lines.length} lines`)
    for (const line of lines) assert.ok(line.length <= 80, line)
    assert.match(output, /^Usage: sonde/)
  }
})

test('an unknown command is refused, also below a command and beside --help', async () => {
  for (const args of [['bogus'], ['bogus', '--help'], ['help', 'bogus'], ['manifests', 'bogus']]) {
    const { code, output } = await runSonde(args)
    const command = args[0] === 'manifests' ? 'sonde manifests' : 'sonde'
    assert.equal(code, 2, output)
    assert.match(output, new RegExp(`^sonde: unknown command 'bogus'\\nsonde: to see .*: (npx )?${command} --help\\n$`))
  }
})

test('a parameter of the list has two lines, and a wrong one is a wrong request', async (t) => {
  const { path, remove } = temporaryDir()
  t.after(remove)
  const listed = await runSonde(['params', 'list', '--data-dir', path])
  assert.match(listed.output, /^keda_enable = false {2}\(default\)\n {4}Whether .* Allowed: true or false\.$/m)
  for (const args of [
    ['set', 'nope=1'],
    ['set', 'keda_enable'],
    ['set', 'keda_enable=maybe'],
    ['get', 'nope'],
  ])
    assert.equal((await runSonde(['params', ...args, '--data-dir', path])).code, 2, args.join(' '))
})

test('the page of the command lists every command', async () => {
  const { output } = await runSonde(['--help'])
  const commands = [...output.matchAll(/^ {2}(\w+) (?:\[options\]|\[command\])/gm)].map(([, name]) => name)
  assert.ok(commands.includes('params'), output)
  const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')
  const missing = commands.filter((name) => name !== 'help' && !new RegExp(`^sonde ${name} +\\w`, 'm').test(page))
  assert.deepEqual(missing, [])
})

test('the version is that of the package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../packages/cli/package.json', import.meta.url), 'utf8'))
  for (const flag of ['--version', '-V']) assert.deepEqual(await runSonde([flag]), { code: 0, output: `${version}\n` })
})
