// All routes of the HTTP API. A test compares this table with the routes of the servers.

import { type ApiRoute, answering, integer, type RouteParameter, required, text } from './route.ts'
import { NODE_ROUTES, QUERY_ROUTES, SIMULATOR_ROUTES } from './routes-of-node.ts'

const SERVICES = text('Names of services, with commas between')

const SERIES: Readonly<Record<string, RouteParameter>> = {
  start: text(
    'Milliseconds since the Unix epoch, ISO 8601, or `YYYYMMDD.HHMMSS` in UTC; at most 24 h before `end`. Default: half an hour before',
  ),
  end: text('As `start`. Default: now'),
  period: integer('Unit: seconds, for at most 5000 points. Default: at most 300 points', { minimum: 5 }),
  fields: text('Names of the nine numbers, with commas between. Default: all but `gpu-mem-total`'),
}
const SERIES_ERRORS = ['QRY_FORM', 'APP_CAP', 'QRY_BUSY']

const APP_ROUTES: readonly ApiRoute[] = [
  answering('/api/v1/apps', 'Apps', 'The apps with GPU pods, the sickest first'),
  answering('/api/v1/apps/:app/gpu', 'Apps', 'Services and pods of an app as they are now', {
    query: {
      services: SERVICES,
      largest: { description: 'Only the largest services if there are too many', schema: { type: 'boolean' } },
    },
    errors: ['QRY_FORM', 'APP_CAP'],
  }),
  answering('/api/v1/apps/:app/services', 'Apps', 'The services of an app', {
    query: { services: SERVICES },
    errors: ['QRY_FORM', 'APP_CAP'],
  }),
  answering('/api/v1/apps/:app/services/:service/metrics', 'Apps', 'Numbers of one service over time', {
    query: SERIES,
    errors: SERIES_ERRORS,
  }),
  answering('/api/v1/apps/:app/metrics-by-service', 'Apps', 'Numbers of several services over time', {
    query: { services: required(SERVICES), ...SERIES },
    errors: SERIES_ERRORS,
  }),
  answering('/api/v1/apps/:app/processes', 'Apps', 'The pods of an app', {
    query: { services: SERVICES },
    errors: ['QRY_FORM', 'APP_CAP'],
  }),
  answering('/api/v1/apps/:app/processes/:pod', 'Apps', 'The pods of an app with one name', {
    errors: ['QRY_FORM', 'APP_UNKNOWN'],
  }),
  answering('/api/v1/pods', 'Apps', 'The GPU pods of all apps, or of one', {
    query: { app: text('Name of an app') },
    errors: ['QRY_FORM', 'APP_CAP'],
  }),
  answering('/api/v1/pods/:namespace/:pod', 'Apps', 'One GPU pod', { errors: ['QRY_FORM'] }),
]

const ACCESS_ROUTES: readonly ApiRoute[] = [
  answering('/api/v1/session', 'Access', 'The user of the page', { role: null }),
  {
    ...{ method: 'post', path: '/api/v1/login', tag: 'Access', summary: 'Exchanges a token for a session' },
    role: null,
    body: {
      type: 'object',
      properties: { token: { type: 'string', minLength: 1, maxLength: 200 } },
      ...{ required: ['token'], additionalProperties: false },
    },
    answers: [
      {
        ...{ status: 200, description: 'The session is in the cookie', mediaType: 'application/json' },
        schema: {
          type: 'object',
          properties: { identity: { $ref: '#/components/schemas/UserIdentity' } },
          required: ['identity'],
        },
      },
    ],
    errors: ['ACC_FORM', 'ACC_TOKEN', 'ACC_WAIT'],
  },
  {
    ...{ method: 'post', path: '/api/v1/logout', tag: 'Access', summary: 'Ends the session' },
    ...{ role: null, answers: [{ status: 204, description: 'The session has ended' }] },
  },
  answering('/api/v1/audit', 'Access', 'The last changes, the newest first', { role: 'admin' }),
  answering('/api/v1/params', 'Parameters', 'All parameters with their values and history', { errors: ['STA_READ'] }),
  {
    ...{ method: 'post', path: '/api/v1/params', tag: 'Parameters', summary: 'Sets parameters' },
    role: 'operator',
    body: {
      type: 'object',
      properties: {
        values: {
          ...{ type: 'object', description: 'Values by name; an empty value clears', maxProperties: 64 },
          additionalProperties: { type: 'string', maxLength: 1024 },
        },
        isForced: { type: 'boolean', description: 'Also what a parameter warns of' },
      },
      ...{ required: ['values'], additionalProperties: false },
    },
    answers: [{ status: 200, description: 'As `GET`', mediaType: 'application/json', schema: 'ParamsAnswer' }],
    errors: ['PRM_FORM', 'PRM_VALUE', 'STA_READ', 'STA_LIMIT', 'STA_WRITE'],
  },
  {
    ...{ method: 'post', path: '/api/v1/params/undo', tag: 'Parameters', summary: 'Undoes the last change' },
    role: 'operator',
    answers: [{ status: 200, description: 'As `GET`', mediaType: 'application/json', schema: 'ParamsAnswer' }],
    errors: ['PRM_NOTHING', 'STA_READ', 'STA_WRITE'],
  },
]

const SCRAPER_ROUTES: readonly ApiRoute[] = [
  answering('/api/v1/scraper', 'Parameters', 'Whether exporters of GPUs are scraped, and how it goes'),
  {
    ...{ method: 'post', path: '/api/v1/scraper/reset', tag: 'Parameters', summary: 'Has all scrapers begin anew' },
    role: 'operator',
    answers: [{ status: 200, description: 'As `GET`', mediaType: 'application/json', schema: 'ScraperAnswer' }],
  },
  answering('/api/v1/troubleshooting', 'Parameters', 'Each hop from a GPU to the page, with commands to look', {
    query: { exporter: text('`helm`, `operator` or `none`'), program: text('`agent`, `console` or `ps`') },
    errors: ['QRY_FORM'],
  }),
]

/** What a console with `console.agents` has beside the routes of its own. */
const NODE_LIST_ROUTES: readonly ApiRoute[] = [
  answering('/api/v1/nodes', 'Nodes of a console', 'The agents of `console.agents`', { servers: ['console'] }),
  {
    ...{ method: 'get', path: '/api/v1/nodes/:node/:path', tag: 'Nodes of a console', servers: ['console'] },
    summary: 'What an agent answers at the path `/api/v1/…`',
    description: 'The path may have several parts. The answer and its errors are those of the agent.',
    answers: [{ status: 200, description: 'The answer of the agent' }],
    errors: ['CON_NO_AGENT'],
  },
  ...(['stream', 'incidents/stream'] as const).map(
    (path): ApiRoute => ({
      ...{ method: 'get', path: `/api/v1/nodes/:node/${path}`, tag: 'Nodes of a console', servers: ['console'] },
      summary: `The stream \`/api/v1/${path}\` of an agent`,
      answers: [
        { status: 200, description: 'Server-sent events', mediaType: 'text/event-stream', schema: { type: 'string' } },
      ],
      errors: ['CON_NO_AGENT'],
    }),
  ),
  {
    ...{ method: 'post', path: '/api/v1/nodes/:node/query', tag: 'Nodes of a console', servers: ['console'] },
    ...{ summary: 'Several queries to an agent', role: 'viewer', body: 'QueryBody' },
    answers: [{ status: 200, description: 'As of an agent', mediaType: 'application/json', schema: 'JsonQueryAnswer' }],
    errors: ['CON_NO_AGENT', 'QRY_FORM', 'QRY_LIMIT'],
  },
]

const WEBHOOK_ROUTES: readonly ApiRoute[] = [
  answering('/api/v1/webhooks', 'Webhooks', 'The receivers, without URLs and keys'),
  answering('/api/v1/webhooks/deliveries', 'Webhooks', 'The last deliveries', {
    query: {
      receiver: text('Name of a receiver'),
      state: text('Default: all', { enum: ['waiting', 'succeeded', 'failed'] }),
      type: text('Type of events'),
      limit: integer('Number of deliveries', { minimum: 1, maximum: 1000, default: 100 }),
    },
    errors: ['WHK_FORM'],
  }),
  {
    ...{ method: 'post', path: '/api/v1/webhooks/test', tag: 'Webhooks', summary: 'Sends a test and waits for it' },
    role: 'operator',
    body: { type: 'object', properties: { receiver: { type: 'string' } }, additionalProperties: false },
    answers: [{ status: 200, description: 'How it went', mediaType: 'application/json', schema: 'WebhookTestAnswer' }],
    errors: ['WHK_FORM', 'WHK_UNKNOWN', 'WHK_BUSY'],
  },
]

const METRICS = {
  status: 200,
  description: 'OpenMetrics 1.0 or Prometheus text 0.0.4, by `Accept`',
  mediaType: 'text/plain',
  schema: { type: 'string' },
}
const SET = { set: text('Only fields of this class', { enum: ['core', 'full'] }) }
const STATUS = { type: 'object', properties: { status: { type: 'string' } }, required: ['status'] }
const READINESS = {
  ...STATUS,
  properties: { status: { enum: ['ready', 'starting'] }, waiting: { type: 'array', items: { type: 'string' } } },
}

const OPEN_ROUTES: readonly ApiRoute[] = [
  {
    ...{ method: 'get', path: '/metrics', tag: 'Scrapes and probes', summary: 'All metrics' },
    description: 'At `export.prometheus.path`.',
    ...{ role: null, servers: ['agent'], query: SET, answers: [METRICS], errors: ['SET_CLASS'] },
  },
  ...(['cset', 'fset'] as const).map(
    (kind): ApiRoute => ({
      ...{
        method: 'get',
        path: `/${kind}/:name`,
        tag: 'Scrapes and probes',
        summary: `Metrics of a field set (${kind})`,
      },
      ...{ role: null, servers: ['agent'], query: SET, answers: [METRICS] },
      errors: ['SET_UNKNOWN', 'SET_CLASS', 'SET_SYNTAX', 'SET_READ'],
    }),
  ),
  {
    ...{
      method: 'get',
      path: '/healthz',
      tag: 'Scrapes and probes',
      summary: 'Whether the process serves',
      role: null,
    },
    answers: [{ status: 200, description: 'It does', mediaType: 'application/json', schema: STATUS }],
  },
  {
    ...{ method: 'get', path: '/readyz', tag: 'Scrapes and probes', summary: 'Whether all sources have settled' },
    role: null,
    answers: [
      { status: 200, description: 'All have', mediaType: 'application/json', schema: READINESS },
      { status: 503, description: '`waiting` names the others', mediaType: 'application/json', schema: READINESS },
    ],
  },
  {
    ...{ method: 'get', path: '/api/v1/openapi.json', tag: 'Node', summary: 'This description' },
    answers: [{ status: 200, description: 'OpenAPI 3.1', mediaType: 'application/json', schema: { type: 'object' } }],
  },
]

/** Every route, in the order of the document. */
export const API_ROUTES: readonly ApiRoute[] = [
  ...NODE_ROUTES,
  ...QUERY_ROUTES,
  ...APP_ROUTES,
  ...SIMULATOR_ROUTES,
  ...ACCESS_ROUTES,
  ...SCRAPER_ROUTES,
  ...WEBHOOK_ROUTES,
  ...NODE_LIST_ROUTES,
  ...OPEN_ROUTES,
]
