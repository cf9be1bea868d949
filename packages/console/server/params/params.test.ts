import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { SondeError } from '@sonde/sdk'
import { fillDisk, smallDisk } from '../../../sdk/test/small-disk.ts'
import { durationMs } from './forms.ts'
import { gpuStack } from './gpu-stack.ts'
import { Params } from './params.ts'

const BOTH = { gpu_observability_enable: 'true', nvidia_device_plugin_enable: 'true' }
const ME = { who: 'ada' }

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-params-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

function open(t: TestContext, folder = folderOf(t), managed: Readonly<Record<string, string>> = {}) {
  const faults: SondeError[] = []
  const onFault = (fault: SondeError) => faults.push(fault)
  const params = new Params({ folder, managed: new Map(Object.entries(managed)), allowsPrivateUrls: false, onFault })
  return { params, folder, faults }
}

/** The message with which a change is refused. */
async function faultOf(change: Promise<unknown>): Promise<string> {
  const error = await change.then(
    () => assert.fail('the change was taken'),
    (thrown: SondeError) => thrown,
  )
  return error.message
}

test('a value that is not allowed is refused with the words of its rule, and nothing is changed', async (t) => {
  const { params } = open(t)
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['gpu_observability_enable', 'yes', /must be true or false \(got "yes"\)/],
    ['dcgm_scrape_interval', 'fast', /must be a valid duration \(got "fast"\)/],
    ['dcgm_scrape_interval', '14.9s', /must be between 15s and 300s \(got 14\.9s\)/],
    ['dcgm_scrape_interval', '5m1s', /must be between 15s and 300s \(got 5m1s\)/],
    ['gpu_metrics_max_pods', '0', /must be a positive integer \(got "0"\)/],
    ['gpu_metrics_max_pods', '501', /must be at most 500 \(got 501\)/],
    ['gpu_metrics_max_concurrent', '51', /must be at most 50 \(got 51\)/],
    ['gpu_metrics_max_concurrent', '1.5', /must be a positive integer \(got "1\.5"\)/],
    ['nvidia_device_time_slicing_replicas', '1', /must be at least 2 \(got 1\)/],
    ['gpu_observability_chart_version', '5.0.0', /must stay within 4\.x \(got 5\.0\.0\)/],
    ['gpu_observability_chart_version', '4.8.1\n- evil', /must be a version/],
    ['prometheus_gpu_metrics_retention', '0d', /must be a duration of Prometheus/],
    ['grafana_dashboard_var_app', 'a-b', /must contain only letters, digits, and underscore \(got "a-b"\)/],
    ['prometheus_url', 'file:///etc/passwd', /must be an address of http or https/],
    ['grafana_url', 'javascript:alert(1)', /must be an address of http or https/],
    ['prometheus_url', 'http://me:(secret)@there/', /needs the secret itself/],
    ['gpu_metrics_max_pod', '5', /unknown parameter \(did you mean gpu_metrics_max_pods\?\)/],
    ['cost_tracking_enable', 'true', /can have no effect: Sonde has no billing/],
    ['__proto__', 'x', /no name of a parameter/],
    ['constructor', 'x', /unknown parameter/],
  ]
  for (const [name, value, words] of cases)
    assert.match(await faultOf(params.set(Object.fromEntries([[name, value]]), ME)), words, `${name}=${value}`)
  const message = await faultOf(params.set({ gpu_metrics_max_pods: '50', dcgm_scrape_interval: '1s' }, ME))
  assert.match(message, /^dcgm_scrape_interval must be/)
  assert.deepEqual([params.value('gpu_metrics_max_pods'), params.version], ['100', 0])
})

test('bounds of durations are allowed, in every spelling of Go', async (t) => {
  const { params } = open(t)
  for (const value of ['15s', '300s', '5m', '1m30s', '0.5m', '15000ms'])
    await params.set({ dcgm_scrape_interval: value }, ME)
  assert.deepEqual(
    [durationMs('1h1m1.5s'), durationMs('1'), durationMs('-1s'), durationMs('')],
    [3_661_500, undefined, undefined, undefined],
  )
})

test('observability needs the device plugin, whichever of both changes', async (t) => {
  const { params } = open(t)
  const [observability, plugin] = [{ gpu_observability_enable: 'true' }, { nvidia_device_plugin_enable: 'false' }]
  assert.match(await faultOf(params.set(observability, ME)), /set both in one command/)
  assert.match(await faultOf(params.set({ ...observability, ...plugin }, ME)), /set both in one command/)
  await params.set(BOTH, ME)
  assert.match(await faultOf(params.set(plugin, ME)), /is needed by gpu_observability_enable/)
  assert.match(await faultOf(params.set({ nvidia_device_plugin_enable: '' }, ME)), /is needed by/)
  await params.set({ gpu_observability_enable: '', ...plugin }, ME)
})

test('versions have author and changes, and the last can be undone and redone', async (t) => {
  const { params } = open(t)
  assert.match(await faultOf(params.undo(ME)), /nothing can be undone/)
  await params.set({ gpu_metrics_max_pods: '50' }, ME)
  await params.set({ gpu_metrics_max_pods: '60', grafana_url: 'https://me:hush@grafana/' }, { who: 'bob' })
  assert.deepEqual(params.history()[0]?.changes, [
    { name: 'gpu_metrics_max_pods', before: '50', after: '60' },
    { name: 'grafana_url', before: '', after: 'https://(secret)@grafana/' },
  ])
  assert.doesNotMatch(JSON.stringify([params.list(), params.history()]), /hush/)
  await params.undo(ME)
  assert.deepEqual([params.value('gpu_metrics_max_pods'), params.value('grafana_url')], ['50', ''])
  await params.undo(ME)
  assert.deepEqual(
    [params.value('gpu_metrics_max_pods'), params.value('grafana_url')],
    ['60', 'https://me:hush@grafana/'],
  )
  assert.deepEqual(
    params.history().map(({ version, who }) => [version, who]),
    [
      [4, 'ada'],
      [3, 'ada'],
      [2, 'bob'],
      [1, 'ada'],
    ],
  )
  const same = await params.set({ gpu_metrics_max_pods: '60' }, ME)
  assert.deepEqual([same.changes, params.version], [[], 4])
})

test('a parameter that the configuration file sets needs force, and an unknown one too', async (t) => {
  const { params } = open(t, folderOf(t), { gpu_metrics_max_pods: '20' })
  assert.equal(params.value('gpu_metrics_max_pods'), '20')
  assert.match(await faultOf(params.set({ gpu_metrics_max_pods: '30' }, ME)), /set by limits\.gpu_metrics_max_pods/)
  await params.set({ gpu_metrics_max_pods: '30', of_a_later_version: 'x' }, { ...ME, isForced: true })
  const told = (name: string) => params.list().find((param) => param.name === name)
  assert.deepEqual([told('gpu_metrics_max_pods')?.origin, told('of_a_later_version')?.effect], ['set', 'none'])
  await params.set({ gpu_metrics_max_pods: '' }, ME)
  assert.deepEqual([params.value('gpu_metrics_max_pods'), told('gpu_metrics_max_pods')?.origin], ['20', 'file'])
})

test('two servers change one file at once, and each sees all changes', async (t) => {
  const one = open(t)
  const other = open(t, one.folder)
  const set = (params: Params, count: number) => params.set({ gpu_metrics_max_pods: `${count}` }, ME)
  await Promise.all(Array.from({ length: 8 }, (_, at) => set((at % 2 === 0 ? one : other).params, 101 + at)))
  await Promise.all([one.params.refresh(), other.params.refresh()])
  assert.deepEqual([one.params.version, other.params.version], [8, 8])
  assert.equal(one.params.value('gpu_metrics_max_pods'), other.params.value('gpu_metrics_max_pods'))
  assert.equal(statSync(join(one.folder, 'params.json')).mode & 0o777, 0o600)
})

test('a file that is damaged or full refuses changes, and its last good version counts', async (t) => {
  const { params, folder, faults } = open(t)
  const path = join(folder, 'params.json')
  await params.set({ gpu_metrics_max_pods: '50' }, ME)
  const good = readFileSync(path, 'utf8')
  for (const damaged of ['', '{', '[]', '{"values":{},"versions":7}', good.replace('"50"', '50')]) {
    writeFileSync(path, damaged)
    await params.refresh()
    assert.equal(params.value('gpu_metrics_max_pods'), '50', damaged)
    assert.match(await faultOf(params.set({ gpu_metrics_max_pods: '60' }, ME)), /cannot be used.*correct it/)
    assert.equal(readFileSync(path, 'utf8'), damaged, 'it is as before')
  }
  assert.ok(faults.every(({ code }) => code === 'STA_DAMAGED') && faults.length === 5)
  writeFileSync(path, good)
  await params.set({ unknown: 'x'.repeat(1000) }, { ...ME, isForced: true })
  const fill = async () => {
    for (let at = 0; ; at++)
      await params.set(Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`p${at}_${n}`, 'x'.repeat(1000)])), {
        ...ME,
        isForced: true,
      })
  }
  assert.match(await faultOf(fill()), /would be larger than 1048576 bytes/)
  assert.equal(params.value('gpu_metrics_max_pods'), '50')
})

test('on a read-only disk a change is refused, also to root, and the values stay', async (t) => {
  const disk = smallDisk(t, 64)
  if (disk === undefined) return t.skip('only root can mount a disk')
  const { params, folder } = open(t, disk)
  await params.set({ gpu_metrics_max_pods: '50' }, ME)
  execFileSync('mount', ['-o', 'remount,ro', disk])
  assert.match(await faultOf(params.set({ gpu_metrics_max_pods: '60' }, ME)), /cannot be written: .*read-only/i)
  const other = open(t, folder).params
  await other.refresh()
  for (const each of [params, other])
    assert.deepEqual([each.value('gpu_metrics_max_pods'), each.version, each.fault], ['50', 1, ''])
  execFileSync('mount', ['-o', 'remount,rw', disk])
  await params.set({ gpu_metrics_max_pods: '60' }, ME)
  assert.equal(params.value('gpu_metrics_max_pods'), '60')
})

test('on a full disk a change is refused, and the file and its values stay', async (t) => {
  const disk = smallDisk(t, 64)
  if (disk === undefined) return t.skip('only root can mount a small disk')
  const { params, folder } = open(t, disk)
  await params.set({ gpu_metrics_max_pods: '50' }, ME)
  const good = readFileSync(join(folder, 'params.json'), 'utf8')
  fillDisk(join(folder, 'filler'))
  assert.match(await faultOf(params.set({ gpu_metrics_max_pods: '60' }, ME)), /cannot be written: .*no space/i)
  assert.equal(readFileSync(join(folder, 'params.json'), 'utf8'), good)
  assert.deepEqual([params.value('gpu_metrics_max_pods'), params.version, params.fault], ['50', 1, ''])
  assert.deepEqual(readdirSync(folder).sort(), ['filler', 'params.json', 'params.json.lock'], 'no draft is left')
})

test('a URL that a server connects to leads to no private address, unless the operator allows it', async (t) => {
  const { params, folder } = open(t)
  for (const url of [
    'http://127.0.0.1:9090',
    'http://localhost/',
    'http://10.0.0.1/',
    'http://169.254.169.254/',
    'http://[::1]/',
  ])
    assert.match(await faultOf(params.set({ prometheus_url: url }, ME)), /allowed: public addresses/, url)
  await params.set({ prometheus_url: 'http://me:hush@192.0.1.1:9090', grafana_url: 'http://10.0.0.1/' }, ME)
  const onFault = () => undefined
  const local = new Params({ folder, managed: new Map(), allowsPrivateUrls: true, onFault })
  await local.set({ prometheus_url: 'http://127.0.0.1:9090' }, ME)
  assert.match(
    await faultOf(local.set({ prometheus_url: 'http://169.254.169.254/' }, ME)),
    /allowed: public, private and loopback/,
  )
})

test('versions are told once, also those of another process', async (t) => {
  const { params, folder } = open(t)
  await params.set({ gpu_metrics_max_pods: '50' }, ME)
  const other = open(t, folder).params
  const told: string[] = []
  other.onVersion = ({ version, changes }) => told.push(`${version}: ${changes.map(({ after }) => after)}`)
  await other.refresh()
  await params.set({ gpu_metrics_max_pods: '60', grafana_url: 'https://me:hush@grafana/' }, ME)
  await other.set({ gpu_metrics_max_pods: '70' }, ME)
  await other.refresh()
  assert.deepEqual(told, ['2: 60,https://(secret)@grafana/', '3: 70'])
})

test('rendered values follow the parameters', async (t) => {
  const { params } = open(t)
  const render = () =>
    gpuStack((name) => params.value(name))
      .map(({ text }) => text)
      .join('')
  assert.equal(render(), '')
  await params.set(
    { ...BOTH, dcgm_scrape_interval: '1m30s', prometheus_gpu_metrics_retention: '7d', keda_enable: 'true' },
    ME,
  )
  for (const line of [
    /--version 4\.8\.1 -n kube-system \\\n {2}-f dcgm-exporter\.yaml/,
    /--collect-interval=90000/,
    /- -f\n {2}- \/etc\/dcgm-counters\/counters\.csv\n/,
    /DCGM_FI_PROF_SM_ACTIVE, gauge, /,
    /scrape_interval: 1m30s\n {4}#.*\n {4}honor_labels: true/,
    /retention: 7d/,
    /keda --repo/,
  ])
    assert.match(render(), line)
  assert.doesNotMatch(render(), /timeSlicing/)
  await params.set({ nvidia_device_time_slicing_replicas: '4' }, ME)
  assert.match(render(), /name: nvidia\.com\/gpu, replicas: 4/)
})
