import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { AnnotationsAnswer, DevicesAnswer, HintsAnswer, IncidentsAnswer, PodsAnswer } from '@sonde/sdk/api'
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js'
import { packageSources, root } from '../../scripts/check/sources.ts'
import { ask } from '../ask.ts'
import { npmPeer } from '../npm-peer.ts'
import { type SondeProcess, startSonde, temporaryDir, until } from '../sonde-process.ts'

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean }[]
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: AnySchema }>> }>>
  readonly 'x-sonde-servers': readonly string[]
}

interface Document {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, AnySchema>> }
}

const FILE = join(root, 'docs/openapi.json')
const description = JSON.parse(readFileSync(FILE, 'utf8')) as Document
const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)
const QUERY = { queries: [{ metric: 'nvml_gpu_power_usage_watts', function: 'avg', by: ['gpu'] }] }

/** Values of parameters in requests to a simulated node, by route or for all routes. */
const SAMPLES: Readonly<Record<string, string>> = {
  ...{ app: 'lab', service: 'notebook', services: 'notebook', pod: 'notebook-0', namespace: 'ml', name: 'simulator' },
  ...{ metric: 'nvml_gpu_power_usage_watts', of: 'simulator', q: JSON.stringify(QUERY) },
}
/** Routes that answer with JSON only if there is an event of traceback. */
const UNSEEN = ['/api/v1/incidents/{id}/lanes']

let agent: SondeProcess
before(async () => {
  agent = await startSonde(['up', '--only-simulated', '--simulate-class', 'dpu-host'])
  await until(
    'numbers of the pods',
    60_000,
    async () => (await ask<PodsAnswer>(agent, '/api/v1/pods')).state === 'ready',
  )
})

after(() => agent.stop())

/** The schema of an answer. Other members than those that it names are refused. */
function strictly(schema: AnySchema): AnySchema {
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
    const isClosed = typeof value === 'object' && value !== null && 'properties' in value && 'type' in value
    return isClosed && !('additionalProperties' in value) ? { ...value, additionalProperties: false } : value
  }) as AnySchema
}

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
ajv.addSchema({ $id: 'http://sonde/', components: strictly(description.components) as object })

/** A console over some agents, and a Prometheus that does not answer. */
async function startConsole(t: TestContext, urls: Readonly<Record<string, string>>): Promise<SondeProcess> {
  const { path, remove } = temporaryDir()
  t.after(remove)
  const config = join(path, 'sonde.yaml')
  writeFileSync(config, JSON.stringify({ console: { agents: { urls } } }))
  const sonde = await startSonde(['console', '--config', config, '--prometheus', 'http://127.0.0.1:9'])
  t.after(() => sonde.stop())
  return sonde
}

/** Fails with what is wrong about an answer. */
function assertForm(schema: AnySchema, answer: unknown, place: string): void {
  const text = JSON.stringify(strictly(schema)).replaceAll('"#/components', '"http://sonde/#/components')
  const validate = ajv.compile(JSON.parse(text) as AnySchema)
  if (validate(answer)) return
  const faults = validate.errors?.slice(0, 5).map((error) => {
    const { instancePath, message = '', params } = error
    return `${instancePath} ${message} ${JSON.stringify(params)}`
  })
  assert.fail(`${place}: ${faults?.join('; ')}`)
}

test('the file is valid OpenAPI 3.1, and the server has it', async (t) => {
  assert.match(description.openapi, /^3\.1\./)
  assert.deepEqual(await ask(agent, '/api/v1/openapi.json'), description)
  const peer = await npmPeer('openapi-parser')
  if (peer === undefined) return t.skip('npm cannot fetch the parser')
  const parser = await import(pathToFileURL(join(peer, 'node_modules/@readme/openapi-parser/dist/index.js')).href)
  const { valid, errors } = await parser.validate(FILE)
  assert.deepEqual([valid, errors ?? []], [true, []])
})

test('it has every route in the sources', () => {
  const route =
    /\b(?:(?:app\.(?:get|post|put|patch|delete)(?:<[^(]*>)?|answerRoute)\(\s*(?:app, )?|ADDRESS = |INCIDENTS_STREAM = )'(\/[^']*)'/g
  const found = packageSources()
    .filter(({ path }) => !/\.test\.ts$|\/test-[^/]+\.ts$|\/web\/|\/page\.ts$/.test(path))
    .flatMap(({ text }) =>
      [...text.matchAll(route)].map(([, path = '']) => path.replace('*', ':path').replace(/:(\w+)/g, '{$1}')),
    )
  assert.ok(found.length > 30 && found.includes('/api/v1/incidents/stream'), found.join())
  assert.deepEqual(
    found.filter((path) => !(path in description.paths)),
    [],
    'add the route to scripts/docs/openapi/routes.ts, and run npm run docs',
  )
})

test('the servers have every route of it, with its methods', async (t) => {
  const alone = await startConsole(t, { one: agent.address })
  for (const [name, { address }] of Object.entries({ agent, console: alone })) {
    const wanted = Object.entries(description.paths).flatMap(([path, methods]) => {
      const offered = Object.entries(methods).flatMap(([method, { 'x-sonde-servers': servers }]) =>
        servers.includes(name) ? [method.toUpperCase()] : [],
      )
      return offered.length === 0 ? [] : [[path, offered.toSorted()]]
    })
    const got = await Promise.all(
      Object.keys(description.paths).map(async (path) => {
        const response = await fetch(address + path.replace('{path}', '*').replace(/\{(\w+)\}/g, ':$1'), {
          method: 'PUT',
        })
        const allowed = response.headers.get('allow')?.split(', ') ?? []
        return [path, allowed.filter((method) => method !== 'HEAD').toSorted()] as const
      }),
    )
    const sorted = (list: readonly unknown[]) => JSON.stringify(list.toSorted())
    assert.equal(sorted(got.filter(([, methods]) => methods.length > 0)), sorted(wanted), name)
  }
})

test('a started scenario has its form, and makes a hint', async () => {
  const started = await ask(agent, '/api/v1/simulator/scenarios', { name: 'retransmission-storm' })
  assertForm(schemaOf('/api/v1/simulator/scenarios', 'post', 201), started, 'the started scenario')
  await until('a hint', 60_000, async () => (await ask<HintsAnswer>(agent, '/api/v1/hints')).hints.length > 0)
})

test('a console has the annotations of its agents, and tells about an agent that it cannot ask', async (t) => {
  const alone = await startConsole(t, { one: agent.address, two: 'http://127.0.0.1:9' })
  const annotations = await until('annotations', 30_000, async () => {
    const given = await ask<AnnotationsAnswer>(alone, '/api/v1/annotations')
    return given.length > 0 && given.every(({ tags }) => !tags.includes('one')) && given
  })
  assertForm(schemaOf('/api/v1/annotations', 'get', 200), annotations, 'annotations')
  const ids = (some: AnnotationsAnswer) => some.filter(({ tags }) => !tags.includes('unknown')).map(({ id }) => id)
  const own = await ask<AnnotationsAnswer>(agent, '/api/v1/annotations?tags=hint')
  assert.deepEqual(
    ids(own).filter((id) => !ids(annotations).includes(id)),
    [],
  )
  const two = annotations.filter(({ tags }) => tags.includes('two'))
  assert.deepEqual(
    two.map(({ title, tags }) => [title, tags]),
    [['Incidents of two are not known', ['sonde', 'two', 'unknown']]],
  )
  const hints = await ask<AnnotationsAnswer>(alone, '/api/v1/annotations?tags=hint,simulated')
  assert.ok(hints.length > 0 && hints.every(({ time, timeEnd }) => time <= timeEnd))
})

test('real answers have the form that it describes, and errors too', async () => {
  const { devices } = await ask<DevicesAnswer>(agent, '/api/v1/devices')
  assert.ok(devices.length > 0)
  const { incidents } = await ask<IncidentsAnswer>(agent, '/api/v1/incidents')
  const [incident] = incidents
  const unseen: string[] = []
  for (const { path, method, operation } of operations) {
    const { content = {} } = operation.responses[200] ?? {}
    const isOfAgent = operation['x-sonde-servers'].includes('agent')
    if (method !== 'get' || !isOfAgent || !('application/json' in content)) continue
    const response = await fetch(agent.address + addressOf(path, operation, incident?.id ?? ''))
    const answer = await response.json()
    if (response.status !== 200) unseen.push(path)
    assertForm(schemaOf(path, method, response.status), answer, path)
  }
  assert.deepEqual(unseen, UNSEEN)
  assertForm(schemaOf('/api/v1/query', 'post', 200), await ask(agent, '/api/v1/query', QUERY), 'a query')
})

function schemaOf(path: string, method: string, status: number): AnySchema {
  const { content } = description.paths[path]?.[method]?.responses[status] ?? {}
  assert.ok(content, `${method} ${path} has no answer ${status}`)
  return content['application/json']?.schema ?? {}
}

function addressOf(path: string, { parameters = [] }: Operation, id: string): string {
  const sampleOf = (name: string) => encodeURIComponent(SAMPLES[name] ?? id)
  const query = parameters
    .filter((each) => each.in === 'query' && (each.required || each.name === 'metric'))
    .map(({ name }) => `${name}=${sampleOf(name)}`)
  return `${path.replace(/\{(\w+)\}/g, (_, name: string) => sampleOf(name))}?${query.join('&')}`
}
