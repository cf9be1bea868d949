// Containers of the manifests, started as processes with their arguments, variables and configuration.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { root } from '../../scripts/setup.mjs'
import { needs } from '../debian.ts'
import { doubledNode, RECIPE_ENV } from '../recipe/recipe.ts'
import { runSonde, startSonde, temporaryDir } from '../sonde-process.ts'
import { containerIn, environmentOf, NODE_NAME, type TestContainer } from './pods.ts'

/** Arguments of a container with the paths of this machine. */
function argsOf(t: TestContext, { args = [] }: TestContainer, config: string): string[] {
  const { path, remove } = temporaryDir()
  t.after(remove)
  writeFileSync(join(path, 'sonde.yaml'), config)
  return args.map((arg) => arg.replace('/etc/sonde', path).replace('/var/lib/sonde', join(path, 'data')))
}

test('the published command has the chart, and prints the manifests of this repository', async () => {
  const file = readFileSync(join(root, 'deploy/kubernetes/agent.yaml'), 'utf8')
  const { code, output } = await runSonde(['manifests', '--set', 'createNamespace=true'])
  assert.equal(code, 0, output)
  assert.equal(output, file.replace(/^(#.*\n)+/, ''))
  const wrong = await runSonde(['manifests', '--set', 'console.enabled=true', '--name', 'No'])
  assert.deepEqual(wrong, {
    code: 2,
    output: 'sonde: --name is "No"; allowed: a name of small letters, digits and -, at most 53\n',
  })
})

test('the agent of the manifests starts, and its probes and metrics answer at the port of the container', async (t) => {
  const { container, config } = containerIn('deploy/kubernetes/agent.yaml')
  const env = { ...environmentOf(container), PROMETHEUS_PORT: '0' }
  const sonde = await startSonde([...argsOf(t, container, config), '--only-simulated'], { env })
  t.after(() => sonde.stop())
  const port = Number(/ · metrics alone on port (\d+) of all addresses/.exec(sonde.output())?.[1])
  const ask = async (path: string) => await fetch(`http://127.0.0.1:${port}${path}`)
  for (const { httpGet } of [container.livenessProbe, container.readinessProbe])
    assert.equal((await ask(httpGet.path)).status, 200, httpGet.path)
  assert.match(await (await ask('/metrics?set=core')).text(), new RegExp(`node="${NODE_NAME}"`))
  assert.equal((await ask('/api/v1/node')).status, 404)
})

test('sonde check accepts the configuration of the console, whose API needs a login', async (t) => {
  const { container, config } = containerIn('deploy/kubernetes/console.yaml')
  const args = argsOf(t, container, config.replace('/var/lib/sonde', '/tmp/none'))
  const sonde = await startSonde([...args, '--listen', '0.0.0.0:0'], { env: {} })
  t.after(() => sonde.stop())
  assert.match(sonde.output(), /login needed/)
  const address = sonde.address.replace('0.0.0.0', '127.0.0.1')
  for (const { httpGet } of [container.livenessProbe, container.readinessProbe])
    assert.equal((await fetch(address + httpGet.path)).status, 200, httpGet.path)
})

test('the DaemonSet of the recipe runs with only its image replaced', needs('cc'), async (t) => {
  const { container } = containerIn('test/recipe/daemonset.yaml')
  const given = environmentOf(container)
  assert.deepEqual({ ...given, PROMETHEUS_PORT: '' }, { ...RECIPE_ENV, PROMETHEUS_PORT: '' })
  const { flags, env } = doubledNode(t)
  const config = await runSonde(['config', ...flags], { env: { ...env, ...given } })
  for (const name of Object.keys(given)) assert.match(config.output, new RegExp(`# ${name}$`, 'm'), name)
  // Without arguments the image runs the agent.
  const sonde = await startSonde(['agent', ...flags], { env: { ...env, ...given, PROMETHEUS_PORT: '0' } })
  t.after(() => sonde.stop())
  const port = Number(/ · metrics alone on port (\d+) of all addresses/.exec(sonde.output())?.[1])
  for (const { httpGet } of [container.livenessProbe, container.readinessProbe])
    assert.equal((await fetch(`http://127.0.0.1:${port}${httpGet.path}`)).status, 200, httpGet.path)
  // Each mount is a folder of which Sonde reads something.
  const read = await runSonde(['config'], { env: {} })
  assert.match(read.output, /sysfs: \/sys +# default/)
  assert.deepEqual(
    container.volumeMounts.map(({ mountPath }) => mountPath),
    ['/dev/infiniband', '/sys', '/dev'],
  )
})
