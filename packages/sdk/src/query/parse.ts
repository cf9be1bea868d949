import { SondeError } from '../errors.ts'
import { JsonReader } from '../internal/json-reader.ts'
import { expressionOf } from './expression.ts'
import {
  type Aggregate,
  type Matcher,
  POINT_COUNT_LIMIT,
  QUERY_COUNT_LIMIT,
  type QueryFunction,
  type QueryRequest,
  type SeriesQuery,
  type Within,
} from './form.ts'

/** Checks what clients ask. */
export const queryReader = new JsonReader((message) => new SondeError('QRY_FORM', message))
const FUNCTIONS: readonly QueryFunction[] = ['last', 'avg', 'min', 'max', 'rate', 'increase', 'quantile']
const AGGREGATES: readonly Aggregate[] = ['sum', 'avg', 'min', 'max', 'count']
const OPS: readonly Matcher['op'][] = ['=', '!=', '=~', '!~']
const STEPS_MS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400].map(
  (s) => s * 1000,
)
const POINTS_DEFAULT = 1440
/** Limit of matchers of one query. */
const MATCHER_COUNT_LIMIT = 16
/**
 * Limit of the total length of the different expressions of a request, which takes at most a second to compile. Unit:
 * characters.
 */
const EXPRESSIONS_LENGTH_LIMIT = 4096

/**
 * Checks a request from outside.
 *
 * @throws SondeError `QRY_FORM` with the key, the value and the allowed values; `QRY_LIMIT` if the request is too
 * large.
 */
export function parseQueryRequest(input: unknown): QueryRequest {
  const body = queryReader.object('the request', input, ['fromMs', 'toMs', 'stepMs', 'queries'])
  const toMs = body.toMs === undefined ? Date.now() : timeOf(body.toMs, 'toMs')
  const fromMs = body.fromMs === undefined ? toMs - 300_000 : timeOf(body.fromMs, 'fromMs')
  if (!(fromMs < toMs)) throw new SondeError('QRY_FORM', `fromMs ${fromMs} is not before toMs ${toMs}`)
  const stepMs = stepOf(body.stepMs, toMs - fromMs)
  return { fromMs, toMs, stepMs, queries: parseQueries(body.queries) }
}

/** Checks queries without a window, for the live stream. */
export function parseQueries(input: unknown): readonly SeriesQuery[] {
  if (!Array.isArray(input) || input.length === 0)
    throw new SondeError('QRY_FORM', 'queries must be a list of at least one question')
  if (input.length > QUERY_COUNT_LIMIT) {
    throw new SondeError('QRY_LIMIT', `${input.length} questions in one request; at most ${QUERY_COUNT_LIMIT}`)
  }
  const expressions = new Set<string>()
  return input.map((query: unknown, index) => parseQuery(query, `queries[${index}]`, expressions))
}

/** The step for a window: the given step, or the finest round step with at most 1 440 points. */
export function stepOf(asked: unknown, windowMs: number): number {
  if (asked === undefined || asked === 0) {
    return (
      STEPS_MS.find((step) => windowMs / step <= POINTS_DEFAULT) ??
      Math.ceil(windowMs / POINTS_DEFAULT / 86_400_000) * 86_400_000
    )
  }
  if (typeof asked !== 'number' || !Number.isInteger(asked) || asked < 1) {
    throw new SondeError(
      'QRY_FORM',
      `stepMs is ${JSON.stringify(asked)}; allowed: whole milliseconds from 1, or 0 for the default`,
    )
  }
  if (windowMs / asked > POINT_COUNT_LIMIT) {
    throw new SondeError(
      'QRY_LIMIT',
      `${Math.ceil(windowMs / asked)} points a series; at most ${POINT_COUNT_LIMIT}: take a larger stepMs`,
    )
  }
  return asked
}

function parseQuery(input: unknown, place: string, expressions: Set<string>): SeriesQuery {
  const query = queryReader.object(place, input, [
    'metric',
    'function',
    'matchers',
    'by',
    'aggregate',
    'within',
    'quantile',
  ])
  if (typeof query.metric !== 'string' || query.metric === '')
    throw new SondeError('QRY_FORM', `${place}.metric must be a metric's name`)
  const matchers = query.matchers ?? []
  if (!Array.isArray(matchers)) throw new SondeError('QRY_FORM', `${place}.matchers must be a list`)
  if (matchers.length > MATCHER_COUNT_LIMIT) {
    throw new SondeError('QRY_LIMIT', `${place} has ${matchers.length} matchers; at most ${MATCHER_COUNT_LIMIT}`)
  }
  const by = query.by === undefined ? undefined : labelNamesOf(query.by, `${place}.by`)
  const asked = queryReader.oneOf(`${place}.function`, query.function ?? 'last', FUNCTIONS)
  const aggregate = queryReader.oneOf(`${place}.aggregate`, query.aggregate ?? 'sum', AGGREGATES)
  if (asked === 'quantile' && aggregate !== 'sum')
    throw new SondeError('QRY_FORM', `${place}.aggregate is ${aggregate}; allowed with quantile: sum`)
  const within = query.within === undefined ? undefined : withinOf(query.within, by, asked, `${place}.within`)
  return {
    metric: query.metric,
    function: asked,
    matchers: matchers.map((matcher: unknown, index) =>
      parseMatcher(matcher, `${place}.matchers[${index}]`, expressions),
    ),
    by,
    aggregate,
    ...(within === undefined ? {} : { within }),
    ...quantileOf(query.quantile, asked, `${place}.quantile`),
  }
}

function withinOf(input: unknown, by: SeriesQuery['by'], asked: QueryFunction, place: string): Within {
  if (by === undefined) throw new SondeError('QRY_FORM', `${place} is for questions with by, and there is none`)
  const within = queryReader.object(place, input, ['by', 'aggregate'])
  const aggregate = queryReader.oneOf(`${place}.aggregate`, within.aggregate ?? 'sum', AGGREGATES)
  if (asked === 'quantile' && aggregate !== 'sum')
    throw new SondeError('QRY_FORM', `${place}.aggregate is ${aggregate}; allowed with quantile: sum`)
  return { by: labelNamesOf(within.by, `${place}.by`), aggregate }
}

function labelNamesOf(input: unknown, place: string): readonly string[] {
  if (Array.isArray(input) && input.every((name) => typeof name === 'string')) return input
  throw new SondeError('QRY_FORM', `${place} must be a list of label names`)
}

function quantileOf(input: unknown, asked: QueryFunction, place: string): Pick<SeriesQuery, 'quantile'> {
  if (asked !== 'quantile') {
    if (input === undefined) return {}
    throw new SondeError('QRY_FORM', `${place} is for the function quantile, and the function is ${asked}`)
  }
  if (typeof input === 'number' && input > 0 && input <= 1) return { quantile: input }
  throw queryReader.wrong(place, input, `a number above 0, at most 1`)
}

function parseMatcher(input: unknown, place: string, expressions: Set<string>): Matcher {
  const matcher = queryReader.object(place, input, ['label', 'op', 'value'])
  if (typeof matcher.label !== 'string') throw new SondeError('QRY_FORM', `${place}.label must be a label's name`)
  if (typeof matcher.value !== 'string') throw new SondeError('QRY_FORM', `${place}.value must be text`)
  const op = queryReader.oneOf(`${place}.op`, matcher.op ?? '=', OPS)
  if (op === '=~' || op === '!~') checkExpression(matcher.value, `${place}.value`, expressions)
  return { label: matcher.label, op, value: matcher.value }
}

function checkExpression(source: string, place: string, expressions: Set<string>): void {
  expressions.add(source)
  const length = [...expressions].reduce((sum, expression) => sum + expression.length, 0)
  if (length > EXPRESSIONS_LENGTH_LIMIT) {
    throw new SondeError(
      'QRY_LIMIT',
      `the expressions up to ${place} have ${length} characters together; at most ${EXPRESSIONS_LENGTH_LIMIT} a request`,
    )
  }
  expressionOf(source, place)
}

function timeOf(input: unknown, place: string): number {
  if (typeof input !== 'number' || !(input >= 0 && input < 1e14)) {
    throw queryReader.wrong(place, input, `milliseconds since the Unix epoch`)
  }
  return input
}
