export { defineWords, useWords } from '../ui/language.ts';
