// Routes of nodes: their hardware, sources, hints, events and scenarios.

import { type ApiRoute, answering, integer, number, type RouteParameter, required, text } from './route.ts'

const OF_AGENT = { servers: ['agent'] } as const
const TIME = 'Unit: milliseconds since the Unix epoch.'

/** Errors of the query form, of the store, and of a Prometheus with the history. */
const QUERY_ERRORS = [
  ...['QRY_FORM', 'QRY_LIMIT', 'QRY_SERIES_LIMIT', 'QRY_COST_LIMIT', 'QRY_BUSY', 'STO_UNAVAILABLE', 'STO_TIMEOUT'],
  ...['QRY_BACKEND', 'QRY_BACKEND_TIMEOUT', 'QRY_BACKEND_OPEN', 'QRY_BACKEND_LIMIT'],
]

/** The JSON of a query in an address. */
function jsonText(description: string): RouteParameter {
  return required(text(description, { contentMediaType: 'application/json' }))
}

/** Routes of the history. */
export const QUERY_ROUTES: readonly ApiRoute[] = [
  answering('/api/v1/types', 'Metrics', 'The catalogue of metrics'),
  answering('/api/v1/series', 'Metrics', 'The latest value of every live series', {
    description: 'One of both parameters is needed.',
    query: { metric: text('Name of a metric'), type: text('Name of a type of records') },
    errors: ['QRY_FORM'],
  }),
  {
    ...{ method: 'post', path: '/api/v1/query', tag: 'Metrics', summary: 'Several queries over one window' },
    // It changes nothing: a viewer may.
    role: 'viewer',
    body: 'QueryBody',
    answers: [
      ...[{ status: 200, description: 'The answer as JSON', mediaType: 'application/json', schema: 'JsonQueryAnswer' }],
      {
        ...{ status: 200, description: 'The same in columns', mediaType: 'application/x-sonde-columns' },
        schema: { type: 'string', contentEncoding: 'binary' },
      },
    ],
    errors: QUERY_ERRORS,
  },
  answering('/api/v1/query', 'Metrics', 'The same by an address', {
    query: { q: jsonText('The body of the request, URL-encoded') },
    errors: QUERY_ERRORS,
  }),
  {
    ...{ method: 'get', path: '/api/v1/stream', tag: 'Metrics', summary: 'New values once a step' },
    query: {
      q: jsonText('`{"stepMs", "queries"}`, URL-encoded'),
      lastEventId: text('Id of the last event that the client has; also as the header `Last-Event-ID`'),
    },
    answers: [
      {
        ...{ status: 200, description: 'Server-sent events `points`, `gap`, `state`, `hints` and `fault`' },
        ...{ mediaType: 'text/event-stream', schema: { type: 'string', description: 'Data of events: StreamEvents' } },
      },
    ],
    errors: ['QRY_FORM', 'QRY_LIMIT', 'QRY_BUSY', 'STR_LIMIT'],
  },
]

const INCIDENT_CHANGES: readonly ApiRoute[] = [
  {
    ...{ method: 'post', path: '/api/v1/incidents/:id/acknowledge', tag: 'Incidents', summary: 'Acknowledges it' },
    ...{ ...OF_AGENT, role: 'operator' },
    answers: [{ status: 201, description: 'As `GET`', mediaType: 'application/json', schema: 'IncidentAnswer' }],
    errors: ['INC_UNKNOWN', 'INC_LIMIT'],
  },
  {
    ...{ method: 'post', path: '/api/v1/incidents/:id/notes', tag: 'Incidents', summary: 'Adds a note' },
    ...{ ...OF_AGENT, role: 'operator' },
    body: {
      ...{ type: 'object', properties: { text: { type: 'string', minLength: 1 } } },
      ...{ required: ['text'], additionalProperties: false },
    },
    answers: [{ status: 201, description: 'As `GET`', mediaType: 'application/json', schema: 'IncidentAnswer' }],
    errors: ['INC_FORM', 'INC_UNKNOWN', 'INC_LIMIT'],
  },
]

const PINS: readonly ApiRoute[] = [
  answering('/api/v1/pins', 'Incidents', 'Pinned incidents', OF_AGENT),
  {
    ...{ method: 'post', path: '/api/v1/incidents/:id/pin', tag: 'Incidents', summary: 'Copies its window to a file' },
    ...{ ...OF_AGENT, role: 'operator' },
    answers: [{ status: 201, description: 'As `GET`', mediaType: 'application/json', schema: 'IncidentAnswer' }],
    errors: ['INC_UNKNOWN', 'INC_PIN', 'INC_LIMIT'],
  },
  {
    ...{ method: 'delete', path: '/api/v1/incidents/:id/pin', tag: 'Incidents', summary: 'Removes that copy' },
    ...{ ...OF_AGENT, role: 'operator' },
    answers: [{ status: 204, description: 'It is removed' }],
    errors: ['INC_UNKNOWN'],
  },
]

/** Routes of nodes. */
export const NODE_ROUTES: readonly ApiRoute[] = [
  answering('/api/v1/node', 'Node', 'The node, its hardware and its history'),
  answering('/api/v1/versions', 'Node', 'Versions of driver, firmware, kernel and Sonde', OF_AGENT),
  answering('/api/v1/sources', 'Node', 'Sources, clients and sinks', OF_AGENT),
  answering('/api/v1/sources/:name', 'Node', 'One source with its settings and failures', {
    ...OF_AGENT,
    errors: ['AGT_UNKNOWN'],
  }),
  answering('/api/v1/rates', 'Node', 'How many series each type has, and how often', OF_AGENT),
  answering('/api/v1/devices', 'Node', 'Devices and other entities', OF_AGENT),
  answering('/api/v1/hints', 'Node', 'Hints of now and of the last hour', OF_AGENT),
  answering('/api/v1/explain', 'Node', 'The walk from file to value', {
    ...OF_AGENT,
    query: { of: required(text('A source, device, metric, series, pod, `traceback`, or `rule:NAME`')) },
    errors: ['QRY_FORM', 'EXP_UNKNOWN', 'EXP_BUSY'],
  }),
  answering('/api/v1/incidents', 'Incidents', 'Incidents, open ones first', {
    ...OF_AGENT,
    query: {
      from: number(`Start of the window. ${TIME}`),
      to: number(`End of the window. ${TIME}`),
      device: text('Id of a device'),
      rule: text('Name of a rule'),
      severity: text('Default: all', { enum: ['critical', 'warning', 'notice'] }),
      kind: text('Default: both', { enum: ['hint', 'event'] }),
      state: text('Default: both', { enum: ['open', 'ended'] }),
      find: text('Words that an incident must contain', { maxLength: 200 }),
      limit: integer('Number of incidents', { minimum: 1, maximum: 1000, default: 100 }),
      cursor: text('`next` of the answer before'),
    },
    errors: ['QRY_FORM', 'QRY_BUSY'],
  }),
  answering('/api/v1/incidents/:id', 'Incidents', 'One incident with its notes', {
    ...OF_AGENT,
    errors: ['INC_UNKNOWN', 'QRY_BUSY'],
  }),
  ...INCIDENT_CHANGES,
  ...PINS,
  {
    ...{ method: 'get', path: '/api/v1/incidents/stream', tag: 'Incidents', summary: 'Incidents whenever they change' },
    ...OF_AGENT,
    answers: [
      {
        ...{ status: 200, description: 'Server-sent events `incidents` and `fault`', mediaType: 'text/event-stream' },
        schema: { type: 'string', description: 'Data of events: StreamEvents' },
      },
    ],
    errors: ['STR_LIMIT'],
  },
  answering('/api/v1/annotations', 'Incidents', 'Incidents as annotations of Grafana', {
    description: 'A console needs `console.agents`, and answers with the annotations of all agents.',
    query: {
      from: number(`Default: a day before \`to\`. ${TIME}`),
      to: number(`Default: now. ${TIME}`),
      tags: text('Tags, with commas between; an annotation must have all of them'),
    },
    errors: ['QRY_FORM', 'QRY_BUSY'],
  }),
  answering('/api/v1/traceback', 'Events', 'The state of traceback', {
    ...OF_AGENT,
    query: { rule: text('Name of a rule') },
  }),
  answering('/api/v1/incidents/:id/moved', 'Incidents', 'The signals that moved when it began', {
    ...OF_AGENT,
    errors: ['INC_UNKNOWN', 'QRY_BUSY'],
  }),
  {
    ...{ method: 'get', path: '/api/v1/incidents/stream', tag: 'Incidents', summary: 'Incidents as they change' },
    ...OF_AGENT,
    answers: [
      {
        ...{ status: 200, description: 'Server-sent events `incidents` and `fault`', mediaType: 'text/event-stream' },
        schema: { type: 'string', description: 'Data of events: StreamEvents' },
      },
    ],
    errors: ['STR_LIMIT'],
  },
  answering('/api/v1/incidents/:id/lanes', 'Events', 'The lanes and marks of an event of traceback', {
    ...OF_AGENT,
    query: { find: text('Words that a lane must contain', { maxLength: 200 }), kind: text('Kind of entity of lanes') },
    errors: ['QRY_FORM', 'TRB_UNKNOWN'],
  }),
  {
    ...{
      method: 'get',
      path: '/api/v1/incidents/:id/file',
      tag: 'Events',
      summary: 'The samples of an event as a file',
    },
    ...OF_AGENT,
    answers: [
      {
        ...{ status: 200, description: 'A DTB file', mediaType: 'application/octet-stream' },
        schema: { type: 'string', contentEncoding: 'binary' },
      },
    ],
    errors: ['TRB_UNKNOWN', 'TRB_NO_FILE'],
  },
  {
    ...{ method: 'get', path: '/api/v1/incidents/:id/samples', tag: 'Events', summary: 'Samples of lanes of an event' },
    ...OF_AGENT,
    query: {
      lanes: required(text('Keys of 1 to 64 lanes, with commas between')),
      from: number(`Default: start of the event's window. ${TIME}`),
      to: number(`Default: end of the event's window. ${TIME}`),
      points: integer('Points of each lane', { minimum: 2, maximum: 20_000, default: 1000 }),
    },
    answers: [
      {
        ...{ status: 200, description: 'A head, SamplesHeader, and columns' },
        ...{ mediaType: 'application/vnd.sonde.samples', schema: { type: 'string', contentEncoding: 'binary' } },
      },
    ],
    errors: ['QRY_FORM', 'QRY_BUSY', 'TRB_UNKNOWN'],
  },
]

/** Routes of the simulated node. */
export const SIMULATOR_ROUTES: readonly ApiRoute[] = [
  answering('/api/v1/simulator', 'Simulator', 'The simulated node and its scenarios', OF_AGENT),
  {
    ...{ method: 'post', path: '/api/v1/simulator', tag: 'Simulator', summary: 'Starts the simulated node' },
    ...{ ...OF_AGENT, role: 'operator', errors: ['SIM_OFF'] },
    answers: [
      {
        ...{ status: 201, description: 'It runs until the agent ends', mediaType: 'application/json' },
        schema: { type: 'object', properties: { enabled: { const: true } }, required: ['enabled'] },
      },
    ],
  },
  {
    ...{ method: 'post', path: '/api/v1/simulator/scenarios', tag: 'Simulator', summary: 'Starts a scenario' },
    ...{ ...OF_AGENT, role: 'operator', body: 'ScenarioRequest' },
    answers: [{ status: 201, description: 'The entry', mediaType: 'application/json', schema: 'StartedScenario' }],
    errors: ['SIM_FORM', 'SIM_UNKNOWN', 'SIM_OFF', 'SIM_OVERLAP', 'SIM_LIMIT'],
  },
  {
    ...{ method: 'delete', path: '/api/v1/simulator/scenarios/:id', tag: 'Simulator', summary: 'Ends a scenario' },
    ...{ ...OF_AGENT, role: 'operator', answers: [{ status: 204, description: 'It has ended' }] },
    errors: ['SIM_OFF', 'SIM_UNKNOWN'],
  },
]
