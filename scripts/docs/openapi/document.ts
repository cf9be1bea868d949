// The OpenAPI file docs/openapi.json, from the types of the answers and the table of routes.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SondeError } from '@sonde/sdk'
import { httpErrorOf } from '../../../packages/agent/src/http/http-error.ts'
import { root } from '../../check/sources.ts'
import type { ApiRoute, RouteAnswer, RouteParameter } from './route.ts'
import { API_ROUTES } from './routes.ts'
import { ApiSchemas, type JsonSchema } from './schemas.ts'

/** Codes of errors that every route may have. */
const COMMON = ['HTTP_HOST', 'HTTP_CROSS_SITE']
/** Codes of routes that want a login beyond loopback. */
const OF_LOGIN = ['ACC_LOGIN', 'ACC_TOKEN', 'ACC_ROLE', 'ACC_WAIT']

const SECURITY_SCHEMES = {
  token: { type: 'http', scheme: 'bearer', description: 'A token of `sonde tokens add`' },
  session: { type: 'apiKey', in: 'cookie', name: 'sonde-session', description: 'The session of the page' },
}

/** The document as text. */
export function openApiText(): string {
  const schemas = new ApiSchemas()
  try {
    return `${JSON.stringify(documentOf(schemas), undefined, 2)}\n`
  } finally {
    schemas.close()
  }
}

function documentOf(schemas: ApiSchemas): object {
  const { version } = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8'))
  const answers = schemas.membersOf('ApiAnswers')
  for (const name of ['ErrorAnswer', 'StreamEvents', 'SamplesHeader']) schemas.ofName(name)
  const paths = Object.entries(Object.groupBy(API_ROUTES, ({ path }) => openPath(path))).map(([path, routes = []]) => {
    return [path, Object.fromEntries(routes.map((route) => [route.method, operationOf(route, schemas, answers)]))]
  })
  return {
    openapi: '3.1.0',
    info: {
      ...{ title: 'Sonde', version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
      description:
        'The HTTP API of agents and consoles. On loopback no login is needed. Times are milliseconds since the Unix epoch unless the name ends in `Ns`.',
    },
    servers: [{ url: '/', description: 'The server that has this file' }],
    tags: [...new Set(API_ROUTES.map(({ tag }) => tag))].map((name) => ({ name })),
    paths: Object.fromEntries(paths),
    components: { schemas: schemas.components(), securitySchemes: SECURITY_SCHEMES },
  }
}

function operationOf(route: ApiRoute, schemas: ApiSchemas, answers: ReadonlyMap<string, JsonSchema>): object {
  const { method, path, tag, summary, description, role = 'viewer', servers = ['agent', 'console'] } = route
  const { query = {}, body } = route
  const schemaOf = (given: string | JsonSchema) => (typeof given === 'string' ? schemas.ofName(given) : given)
  const ofPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    ...{ name, in: 'path', required: true, schema: { type: 'string' } },
  }))
  const ofQuery = Object.entries(query).map(
    ([name, { description, schema, isRequired = false }]: [string, RouteParameter]) => ({
      ...{ name, in: 'query', required: isRequired, description, schema },
    }),
  )
  const needs = role === 'viewer' || role === null ? '' : `Needs the role ${role}.`
  const words = [description, needs].filter((each) => each !== undefined && each !== '').join(' ')
  return {
    ...{ tags: [tag], summary, operationId: operationId(method, path) },
    ...(words !== '' && { description: words }),
    ...(ofPath.length + ofQuery.length > 0 && { parameters: [...ofPath, ...ofQuery] }),
    ...(body !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body) } } },
    }),
    responses: { ...successes(route, schemaOf, answers), ...errorsOf(route) },
    security: role === null ? [] : [{}, { token: [] }, { session: [] }],
    'x-sonde-servers': servers,
  }
}

function successes(
  { path, answers }: ApiRoute,
  schemaOf: (given: string | JsonSchema) => JsonSchema,
  known: ReadonlyMap<string, JsonSchema>,
): object {
  const usual = (): RouteAnswer[] => {
    const schema = known.get(path)
    if (schema === undefined) throw new Error(`ApiAnswers has no ${path}`)
    return [{ status: 200, description: 'The answer', mediaType: 'application/json', schema }]
  }
  const byStatus = Object.groupBy(answers ?? usual(), ({ status }) => status)
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, some = []]) => {
      const content = some.flatMap(({ mediaType, schema = {} }) =>
        mediaType === undefined ? [] : [[mediaType, { schema: schemaOf(schema) }]],
      )
      const description = some.map((answer) => answer.description).join('; ')
      return [status, { description, ...(content.length > 0 && { content: Object.fromEntries(content) }) }]
    }),
  )
}

/** The errors of a route by the status that the server gives them. */
function errorsOf({ path, role, errors = [], answers = [] }: ApiRoute): object {
  const guarded = path.startsWith('/api/') && role !== null ? OF_LOGIN : []
  const codes = [...new Set([...errors, ...guarded, ...COMMON])]
  const byStatus = Object.groupBy(codes, (code) => httpErrorOf(new SondeError(code, '')).status)
  const taken = new Set(answers.map(({ status }) => status))
  return Object.fromEntries(
    Object.entries(byStatus)
      .filter(([status]) => !taken.has(Number(status)))
      .map(([status, some = []]) => [
        status,
        {
          description: some.map((code) => `\`${code}\``).join(', '),
          content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorAnswer' } } },
        },
      ]),
  )
}

function openPath(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}')
}

/** `getAppsByAppGpu` of `GET /api/v1/apps/:app/gpu`. */
function operationId(method: string, path: string): string {
  const words = path
    .replace('/api/v1', '')
    .split(/[/.-]/)
    .filter((word) => word !== '')
    .map((word) => (word.startsWith(':') ? `By${capital(word.slice(1))}` : capital(word)))
  return `${method}${words.join('')}`
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
