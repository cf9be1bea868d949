/** The checked values of one rule. Every key has the form that its type of rule declares. */
export interface RuleValues {
  /** In the arithmetic of the rule's signal: a whole number for integer fields. */
  value(key: string): bigint | number
  number(key: string): number
  /** Default: the history depth, or `fallback`. */
  samples(key: string, fallback?: number): number
  /** A key in milliseconds, as nanoseconds. */
  ns(key: string): number
  /** Index of the signal that a key names. */
  signal(key: string): number
}
