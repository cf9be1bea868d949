/** The checked values of one rule, as its type asks for them. A key that the type declares is of its form here. */
export interface Given {
  /** In the arithmetic of the rule's signal: whole for integer fields. */
  value(key: string): bigint | number
  number(key: string): number
  /** The history depth where it was left out, or another fallback. */
  samples(key: string, fallback?: number): number
  /** A key in milliseconds, as nanoseconds. */
  ns(key: string): number
  /** Index of the signal that a key names. */
  signal(key: string): number
}
