import type { Matcher } from '@sonde/sdk/internal'

/** Longer expressions are refused by histories. Unit: characters. */
const EXPRESSION_MAX = 400

/**
 * Matchers of an app and some of its services. Where their names are too long together for an expression, all services
 * of the app match: the answer is narrowed by who asks.
 */
export function serviceMatchers(app: string, services: readonly string[] | undefined): Matcher[] {
  const ofApp: Matcher = { label: 'app', op: '=', value: app }
  if (services === undefined) return [ofApp]
  const value = services.map(escapeExpression).join('|')
  return value.length > EXPRESSION_MAX ? [ofApp] : [ofApp, { label: 'service', op: '=~', value }]
}

function escapeExpression(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
