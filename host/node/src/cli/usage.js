/** What is wrong with a command line, as can be seen in it alone. */
export class WrongUsage extends Error {}
